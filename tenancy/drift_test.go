package tenancy_test

import (
	"errors"
	"testing"

	"example.com/subproduct/tenancy"
)

// A tenant with the reference's name would be what all others are compared with.
func TestDrift_NoTenantIsTheReference(t *testing.T) {
	t.Parallel()
	if _, err := tenancy.ParseSlug(tenancy.ReferenceSlug); !errors.Is(err, tenancy.ErrBadSlug) {
		t.Errorf("%s may be a tenant's slug: %v", tenancy.ReferenceSlug, err)
	}
}
