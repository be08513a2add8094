package clone_test

import (
	"testing"

	"example.com/subproduct/handlers/dev/clone"
)

func TestGoMod_TakesTheHigherOfEachRequirement(t *testing.T) {
	t.Parallel()
	got, err := clone.MergeGoMod(`module github.com/acme/billing

go 1.26.0

require (
	example.com/both v1.10.0 // why
	example.com/mine v1.0.0
	example.com/older v1.2.0
)
`, `module example.com/subproduct

go 1.27.0

require (
	example.com/both v1.9.0
	example.com/older v1.12.0
	example.com/theirs v0.1.0
)

require example.com/through v0.2.0 // indirect
`)
	want := `module github.com/acme/billing

go 1.27.0

require (
	example.com/both v1.10.0 // why
	example.com/mine v1.0.0
	example.com/older v1.12.0
	example.com/theirs v0.1.0
	example.com/through v0.2.0 // indirect
)
`
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}
