package server

import (
	"context"
	"maps"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/handlers/platform"
	"example.com/subproduct/tenancy"
)

type apply = func(context.Context, pgx.Tx, tenancy.Event) error

// events are the product's event handlers and the two that every product has:
// what the product does with those runs after what the server does.
func events(db *tenancy.DB, product tenancy.EventHandlers) tenancy.EventHandlers {
	all := tenancy.EventHandlers{}
	maps.Copy(all, product)
	all[platform.SubscriptionCreated] = tenancy.EventHandler{
		Apply: then(db.OnSubscriptionCreated, product[platform.SubscriptionCreated].Apply), NewTenant: true,
	}
	all[platform.TenantCancelled] = tenancy.EventHandler{
		Apply: then(db.OnTenantCancelled, product[platform.TenantCancelled].Apply), NewTenant: true, Overrides: true,
	}
	return all
}

func then(first, second apply) apply {
	if second == nil {
		return first
	}
	return func(ctx context.Context, tx pgx.Tx, e tenancy.Event) error {
		if err := first(ctx, tx, e); err != nil {
			return err
		}
		return second(ctx, tx, e)
	}
}
