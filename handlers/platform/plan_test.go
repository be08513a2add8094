package platform_test

import (
	"strings"
	"testing"

	"example.com/subproduct/handlers/platform"
)

func TestPlan_IsTheFirstUsableTextOfTheFields(t *testing.T) {
	t.Parallel()
	fields := []string{"planType", "data.planType", "subscription.planType"}
	for body, want := range map[string]string{
		`{"planType":"Pro"}`:                                        "Pro",
		`{"data":{"planType":"Pro"}}`:                               "Pro",
		`{"subscription":{"planType":"Équipe 5"}}`:                  "Équipe 5",
		`{"data":{"planType":"Pro"},"planType":"Team"}`:             "Team",
		`{"planType":null,"data":{"planType":"Pro"}}`:               "Pro",
		`{"planType":7,"data":{"planType":"Pro"}}`:                  "Pro",
		`{"planType":"","data":"x"}`:                                "",
		`{"planType":"Pro\u0000"}`:                                  "",
		`{"planType":"\ud800"}`:                                     "",
		`{"planType":"` + strings.Repeat("x", 513) + `"}`:           "",
		`{"plantype":"Pro"}`:                                        "",
		`{"plan":"Pro"}`:                                            "",
		`[]`:                                                        "",
		`not JSON`:                                                  "",
		`{"planType":"` + strings.Repeat("x", 512) + `","data":{}}`: strings.Repeat("x", 512),
	} {
		if got := platform.Plan([]byte(body), fields); got != want {
			t.Errorf("%.60s: %q, want %q", body, got, want)
		}
	}
}
