package conformance

import (
	"fmt"
	"os"
	"strings"
)

// environment reads the product's registration and says what is missing.
func (s *settings) environment(env func(string) (string, bool)) (wrong []error) {
	for _, setting := range []struct {
		name string
		to   *string
	}{{"APP_SLUG", &s.appSlug}, {"PLATFORM_API_KEY", &s.apiKey}, {"WEBHOOK_SECRET", &s.secret}} {
		value, err := Setting(env, setting.name)
		if err == nil && value == "" {
			err = fmt.Errorf("%[1]s is not set (nor %[1]s_FILE); it must be the target's", setting.name)
		}
		*setting.to = value
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// Setting is the variable NAME, or the content of the file that NAME_FILE names
// without its last line end; empty when neither is there. Its error, of a file
// that cannot be read, shows no content.
func Setting(env func(string) (string, bool), name string) (string, error) {
	if v, _ := env(name); v != "" {
		return v, nil
	}
	file, _ := env(name + "_FILE")
	if file == "" {
		return "", nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s_FILE: %w", name, err)
	}
	return strings.TrimRight(string(content), "\r\n"), nil
}
