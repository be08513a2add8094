package handlers

import (
	"context"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy"
)

func events() tenancy.EventHandlers {
	return tenancy.EventHandlers{"order.shipped": {Apply: orderShipped}}
}

func orderShipped(ctx context.Context, tx pgx.Tx, _ tenancy.Event) error {
	_, err := tx.Exec(ctx, `UPDATE orders SET shipped = true`)
	return err
}
