package config

import (
	"errors"
	"slices"
	"strings"
)

// mark stands in .env.example wherever a value has to be made up.
const mark = "change-me"

// exampleURLs are the addresses of .env.example. They lead nowhere.
var exampleURLs = []string{"https://my-product.example", "https://platform.example", "https://api.platform.example"}

// placeholder refuses a value that was copied from .env.example and not changed:
// a server that starts on a secret which everybody can read is worse than none.
func placeholder(value string) error {
	if strings.Contains(value, mark) || slices.Contains(exampleURLs, strings.TrimRight(value, "/")) {
		return errors.New("is still the placeholder of .env.example: put your own value there")
	}
	return nil
}
