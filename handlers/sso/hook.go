package sso

import (
	"context"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/session"
	"example.com/subproduct/tenancy"
)

// hook runs the product's part of a sign-in on the tenant's data. It returns
// the product's error, or those of ForTenant and InTx.
func (s *SSO) hook(ctx context.Context, slug tenancy.Slug, user session.User) error {
	if s.OnSignIn == nil {
		return nil
	}
	ctx, err := s.DB.ForTenant(ctx, slug.String())
	if err != nil {
		return err
	}
	return s.DB.InTx(ctx, func(tx pgx.Tx) error { return s.OnSignIn(ctx, tx, user) })
}
