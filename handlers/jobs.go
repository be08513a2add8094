package handlers

import (
	"context"

	"example.com/subproduct/tenancy"
)

// This file has what the product does beside its requests, in every replica: it
// begins when the shared schema is there and ends with ctx. An error or a panic
// is logged, and it runs again. server/README.md shows an example.

func background(context.Context, *tenancy.DB) error { return nil }
