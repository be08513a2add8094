package conformance

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/tenancy/commands/flags"
)

// settings are what a run knows of the product that it judges.
type settings struct {
	target                    *url.URL // where the product is, without a path
	platformAddr, platformURL string
	asJSON                    bool
	skip                      []string // rules that are not judged

	webhookPath, healthPath, loginPath, callbackPath, sessionPath string
	tenantField                                                   string
	writePath, writeBody, readPath                                string
	writeGuessed                                                  bool // nobody has named writePath

	appSlug, apiKey, secret string
}

// parse reads flags and environment. Its error is flags.ErrUsage and names
// everything that is missing or wrong, never a value that is secret.
func parse(args []string, env func(string) (string, bool), out io.Writer) (settings, error) {
	var s settings
	var target string
	set := s.flags(&target)
	words, err := flags.Parse(set, args, out)
	if err != nil {
		return s, err
	}
	s.writeGuessed = true
	set.Visit(func(f *flag.Flag) { s.writeGuessed = s.writeGuessed && f.Name != "write-path" })
	wrong := s.check(target, set)
	if len(words) > 0 {
		wrong = append(wrong, fmt.Errorf("flags only, not %q", words))
	}
	r := config.NewReader(env)
	s.appSlug = r.RequiredText("APP_SLUG", "")
	s.apiKey = r.RequiredSecret("PLATFORM_API_KEY", "").Reveal()
	s.secret = r.RequiredSecret("WEBHOOK_SECRET", "").Reveal()
	wrong = append(wrong, r.Err())
	if err := errors.Join(wrong...); err != nil {
		return s, flags.Usage(fmt.Errorf("the target cannot be checked:\n%w", err))
	}
	return s, nil
}

func (s *settings) flags(target *string) *flag.FlagSet {
	set := flag.NewFlagSet("conformance", flag.ContinueOnError)
	set.StringVar(target, "target", "", "where the sub-product runs, as browsers reach it: http://127.0.0.1:8080")
	set.StringVar(&s.platformAddr, "platform-addr", "", "where to play the platform; the target's PLATFORM_URL and PLATFORM_BASE_URL lead here: 127.0.0.1:8090")
	set.StringVar(&s.platformURL, "platform-url", "", "the target's PLATFORM_URL, when it is not http://ADDR")
	set.Func("skip", "rules that are not to be judged, with commas between them", s.skipRules)
	set.BoolVar(&s.asJSON, "json", false, "print a JSON array")
	set.StringVar(&s.webhookPath, "webhook-path", "/webhooks/platform", "the webhook endpoint")
	set.StringVar(&s.healthPath, "health-path", "/healthz", "the health-check URL")
	set.StringVar(&s.loginPath, "login-path", "/login", "a page that sends a browser without a session to the platform")
	set.StringVar(&s.callbackPath, "callback-path", "/sso/callback", "the callback address")
	set.StringVar(&s.sessionPath, "session-path", "/api/me", "a page or API that needs a session and shows the user's e-mail address or id")
	set.StringVar(&s.tenantField, "tenant-field", "tenantSlug", "where events carry the tenant's slug; dots lead inwards: data.tenant.slug")
	set.StringVar(&s.writePath, "write-path", "/api/notes", "takes a POST of --write-body; empty: the product keeps nothing to check isolation with")
	set.StringVar(&s.writeBody, "write-body", `{"title":"%s"}`, "JSON with %s where the text goes")
	set.StringVar(&s.readPath, "read-path", "/api/notes", "shows what was written")
	return set
}

// skipRules reads --skip; a name that is no rule is an error, for the rule would
// go on being judged.
func (s *settings) skipRules(list string) error {
	for _, id := range strings.Split(list, ",") {
		if !slices.ContainsFunc(rules(), func(r rule) bool { return r.id == id }) {
			return fmt.Errorf("there is no rule %q", id)
		}
		s.skip = append(s.skip, id)
	}
	return nil
}

// check says what is wrong with the flags.
func (s *settings) check(target string, set *flag.FlagSet) (wrong []error) {
	var err error
	if s.target, err = url.Parse(strings.TrimRight(target, "/")); err != nil || !isOrigin(s.target) {
		wrong = append(wrong, fmt.Errorf("--target must be like http://127.0.0.1:8080, not %q", target))
	}
	if s.platformAddr == "" {
		wrong = append(wrong, errors.New("--platform-addr is not given; 127.0.0.1:8090 is usual"))
	}
	if s.writePath != "" && (s.readPath == "" || !strings.Contains(s.writeBody, "%s")) {
		wrong = append(wrong, errors.New("--write-path needs --read-path, and %s in --write-body"))
	}
	set.VisitAll(func(f *flag.Flag) {
		path, optional := f.Value.String(), f.Name == "write-path" || f.Name == "read-path"
		if strings.HasSuffix(f.Name, "-path") && !strings.HasPrefix(path, "/") && (path != "" || !optional) {
			wrong = append(wrong, fmt.Errorf("--%s must begin with /, not %q", f.Name, path))
		}
	})
	return wrong
}

func isOrigin(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.Path == "" && u.RawQuery == "" && u.User == nil
}
