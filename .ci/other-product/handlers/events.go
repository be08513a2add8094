package handlers

import (
	"context"

	"github.com/jackc/pgx/v5"

	"example.com/subproduct/tenancy/inbox"
)

func events() inbox.Handlers {
	return inbox.Handlers{"order.shipped": {Apply: orderShipped}}
}

func orderShipped(ctx context.Context, tx pgx.Tx, _ inbox.Event) error {
	_, err := tx.Exec(ctx, `UPDATE orders SET shipped = true`)
	return err
}
