package handlers

import (
	"context"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/words"
	"example.com/subproduct/tenancy"
)

type orders struct {
	db *tenancy.DB
	s  *settings
}

type order struct {
	ID       int64  `json:"id"`
	Customer string `json:"customer"`
	Lines    int    `json:"lines"`
	Currency string `json:"currency"`
}

var errEmptyOrder = errors.New("the order is empty")

func (o orders) page(c echo.Context) error {
	found, err := o.all(c.Request().Context())
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, "orders.html", struct {
		Orders   []order
		Language string
	}{found, words.Language()})
}

func (o orders) list(c echo.Context) error {
	found, err := o.all(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string][]order{"orders": found})
}

func (o orders) create(c echo.Context) error {
	var in struct {
		Customer string
		Lines    map[string]int // sku → quantity
	}
	if err := c.Bind(&in); err != nil {
		return err
	}
	if in.Customer == "" || len(in.Lines) == 0 {
		return errEmptyOrder
	}
	ctx := c.Request().Context()
	err := o.db.InTx(ctx, func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, `
			WITH customer AS (
				INSERT INTO customers (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id)
			INSERT INTO orders (customer_id) SELECT id FROM customer RETURNING id`, in.Customer).Scan(&id)
		for sku, quantity := range in.Lines {
			if err == nil {
				_, err = tx.Exec(ctx, `INSERT INTO order_lines (order_id, sku, quantity) VALUES ($1, $2, $3)`, id, sku, quantity)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusCreated)
}

func (o orders) all(ctx context.Context) (found []order, err error) {
	err = o.db.InTx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT o.id, c.name, count(l.sku), y.code FROM orders o JOIN customers c ON c.id = o.customer_id
				LEFT JOIN order_lines l ON l.order_id = o.id, currencies y
			WHERE y.code = $1 GROUP BY o.id, c.name, y.code ORDER BY o.id`, o.s.currency)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[order])
		return err
	})
	return found, err
}
