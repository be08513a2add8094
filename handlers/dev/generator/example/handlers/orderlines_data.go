package handlers

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/session"
	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
)

type orderLine struct {
	ID         int64      `json:"id"`
	Sku        string     `json:"sku"`
	Remark     string     `json:"remark"`
	Quantity   int64      `json:"quantity"`
	Price      string     `json:"price"`
	Shipped    bool       `json:"shipped"`
	DueDate    string     `json:"dueDate"`
	OrderedAt  time.Time  `json:"orderedAt"`
	ProductID  string     `json:"productId"`
	Label      string     `json:"label"`
	Discount   *string    `json:"discount"`
	Batch      *int64     `json:"batch"`
	BestBefore *string    `json:"bestBefore"`
	SeenAt     *time.Time `json:"seenAt"`
	SupplierID *string    `json:"supplierId"`
	Story      string     `json:"story"`
	CustomerID int64      `json:"customerId"`
	AgentID    *int64     `json:"agentId"`
	CreatedAt  time.Time  `json:"createdAt"`

	// What the things are called that it refers to.
	Customer, Agent string `json:"-"`
}

// orderLinesPage is a part of the list, the newest first.
type orderLinesPage struct {
	OrderLines []orderLine `json:"orderLines"`
	Next       string      `json:"next,omitempty"` // the cursor of the rest; empty: this is the end
	Window     web.Window  `json:"-"`
}

var errNoOrderLine = errors.New("there is no such order line")

// read takes over what a form or JSON says. It returns a web.Invalid that names
// every field that is wrong.
func (o *orderLine) read(in *web.Input) error {
	in.Text(&o.Sku, "sku", 200)
	in.OptionalText(&o.Remark, "remark", 10000)
	in.Int(&o.Quantity, "quantity")
	in.Numeric(&o.Price, "price")
	in.Bool(&o.Shipped, "shipped")
	in.Date(&o.DueDate, "dueDate")
	in.Time(&o.OrderedAt, "orderedAt")
	in.UUID(&o.ProductID, "productId")
	in.OptionalText(&o.Label, "label", 200)
	web.Optional(in, &o.Discount, "discount", in.Numeric)
	web.Optional(in, &o.Batch, "batch", in.Int)
	web.Optional(in, &o.BestBefore, "bestBefore", in.Date)
	web.Optional(in, &o.SeenAt, "seenAt", in.Time)
	web.Optional(in, &o.SupplierID, "supplierId", in.UUID)
	in.Text(&o.Story, "story", 10000)
	in.Int(&o.CustomerID, "customerId")
	web.Optional(in, &o.AgentID, "agentId", in.Int)
	return in.Err()
}

// form is the form that changes it.
func (o orderLine) form() web.Form {
	return web.FormOf(o.ID, map[string]any{
		"sku":        o.Sku,
		"remark":     o.Remark,
		"quantity":   o.Quantity,
		"price":      o.Price,
		"shipped":    o.Shipped,
		"dueDate":    o.DueDate,
		"orderedAt":  o.OrderedAt,
		"productId":  o.ProductID,
		"label":      o.Label,
		"discount":   o.Discount,
		"batch":      o.Batch,
		"bestBefore": o.BestBefore,
		"seenAt":     o.SeenAt,
		"supplierId": o.SupplierID,
		"story":      o.Story,
		"customerId": o.CustomerID,
		"agentId":    o.AgentID,
	}).For(o)
}

// Data. In these statements order_lines is the table of the tenant who is signed
// in, and of nobody else.

const orderLineColumns = `id, sku, remark, quantity, price::text, shipped, to_char(due_date, 'YYYY-MM-DD'), ordered_at, product_id::text, label, discount::text, batch, to_char(best_before, 'YYYY-MM-DD'), seen_at, supplier_id::text, story, customer_id, agent_id, created_at,
	(SELECT name FROM customers WHERE customers.id = order_lines.customer_id),
	coalesce((SELECT name FROM customers WHERE customers.id = order_lines.agent_id), '')`

// oneOrderLine reads the one row of a query. It returns errNoOrderLine when there is none,
// and a web.Invalid when a value that must be unique is there already.
func oneOrderLine(rows pgx.Rows, err error) (found orderLine, _ error) {
	if err == nil {
		found, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[orderLine])
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return found, errNoOrderLine
	case tenancy.Constraint(err) == "order_lines_sku_key":
		return found, web.Invalid{"sku": "This is there already."}
	case tenancy.Constraint(err) == "order_lines_batch_key":
		return found, web.Invalid{"batch": "This is there already."}
	case tenancy.IsUnique(err): // the server does not say which
		return found, web.Invalid{"sku": "This or another of the fields that must be unique is there already.", "batch": "This or another of the fields that must be unique is there already."}
	}
	return found, err
}

// orderLineRefs makes a web.Invalid of a statement's error when what the order line
// refers to is not there.
func orderLineRefs(err error) error {
	switch {
	case tenancy.Constraint(err) == "order_lines_customer_id_fkey":
		return web.Invalid{"customerId": "There is no such customer."}
	case tenancy.Constraint(err) == "order_lines_agent_id_fkey":
		return web.Invalid{"agentId": "There is no such agent."}
	case tenancy.IsForeignKey(err): // the server does not say which
		return web.Invalid{"customerId": "There is no such customer, or what another field refers to is not there.", "agentId": "There is no such agent, or what another field refers to is not there."}
	}
	return err
}

// orderLineChoices reads what a field may refer to.
func orderLineChoices(rows pgx.Rows, err error) ([]web.Choice, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[web.Choice])
}

// choose gives the form what may be referred to: the newest, with one past a
// hundred by which the form knows that there are more, and what is chosen already.
func (o orderLines) choose(c echo.Context, form *web.Form) (err error) {
	ctx := c.Request().Context()
	form.Choices = map[string][]web.Choice{}
	form.Choices["customerId"], err = orderLineChoices(o.db.Query(ctx, `
		(SELECT id, name FROM customers ORDER BY id DESC LIMIT 101)
		UNION SELECT id, name FROM customers WHERE id = $1 ORDER BY 1 DESC`, form.Chosen("customerId")))
	if err != nil {
		return err
	}
	form.Choices["agentId"], err = orderLineChoices(o.db.Query(ctx, `
		(SELECT id, name FROM customers ORDER BY id DESC LIMIT 101)
		UNION SELECT id, name FROM customers WHERE id = $1 ORDER BY 1 DESC`, form.Chosen("agentId")))
	return err
}

func (o orderLines) page(c echo.Context, size int) (page orderLinesPage, err error) {
	window, err := web.ReadWindow(c, size)
	if err != nil {
		return page, err
	}
	rows, err := o.db.Query(c.Request().Context(), `
		SELECT `+orderLineColumns+` FROM order_lines
		WHERE id < $1 AND strpos(lower(concat_ws(' ', sku, remark, quantity, price, due_date, product_id, label, discount, batch, best_before, supplier_id, story)), lower($2)) > 0
		ORDER BY id DESC LIMIT $3`, window.Before, window.Search, window.Limit+1)
	if err != nil {
		return page, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[orderLine])
	page.Window = window
	page.OrderLines, page.Next = web.Cut(window, found, func(o orderLine) int64 { return o.ID })
	return page, err
}

func (o orderLines) find(c echo.Context) (orderLine, error) {
	id, err := web.ID(c)
	if err != nil {
		return orderLine{}, err
	}
	return oneOrderLine(o.db.Query(c.Request().Context(), `SELECT `+orderLineColumns+` FROM order_lines WHERE id = $1`, id))
}

func (o orderLines) insert(c echo.Context, in *web.Input) (orderLine, error) {
	var given orderLine
	if err := given.read(in); err != nil {
		return given, err
	}
	ctx := c.Request().Context()
	user, _ := session.From(ctx)
	created, err := oneOrderLine(o.db.Query(ctx, `
		INSERT INTO order_lines (sku, remark, quantity, price, shipped, due_date, ordered_at, product_id, label, discount, batch, best_before, seen_at, supplier_id, story, customer_id, agent_id, created_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) RETURNING `+orderLineColumns,
		given.Sku, given.Remark, given.Quantity, given.Price, given.Shipped, given.DueDate, given.OrderedAt, given.ProductID, given.Label, given.Discount, given.Batch, given.BestBefore, given.SeenAt, given.SupplierID, given.Story, given.CustomerID, given.AgentID, user.ID))
	return created, orderLineRefs(err)
}

func (o orderLines) update(c echo.Context, in *web.Input) (changed orderLine, err error) {
	id, err := web.ID(c)
	if err != nil {
		return changed, err
	}
	ctx := c.Request().Context()
	err = o.db.InTx(ctx, func(tx pgx.Tx) error {
		found, err := oneOrderLine(tx.Query(ctx, `SELECT `+orderLineColumns+` FROM order_lines WHERE id = $1 FOR UPDATE`, id))
		if err == nil {
			err = web.IfMatch(c, found)
		}
		if err == nil {
			err = found.read(in)
		}
		if err != nil {
			return err
		}
		changed, err = oneOrderLine(tx.Query(ctx, `
			UPDATE order_lines SET sku = $1, remark = $2, quantity = $3, price = $4, shipped = $5, due_date = $6, ordered_at = $7, product_id = $8, label = $9, discount = $10, batch = $11, best_before = $12, seen_at = $13, supplier_id = $14, story = $15, customer_id = $16, agent_id = $17
			WHERE id = $18 RETURNING `+orderLineColumns, found.Sku, found.Remark, found.Quantity, found.Price, found.Shipped, found.DueDate, found.OrderedAt, found.ProductID, found.Label, found.Discount, found.Batch, found.BestBefore, found.SeenAt, found.SupplierID, found.Story, found.CustomerID, found.AgentID, id))
		return orderLineRefs(err)
	})
	return changed, err
}

func (o orderLines) remove(c echo.Context) error {
	id, err := web.ID(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	return o.db.InTx(ctx, func(tx pgx.Tx) error {
		removed, err := oneOrderLine(tx.Query(ctx, `DELETE FROM order_lines WHERE id = $1 RETURNING `+orderLineColumns, id))
		if err == nil {
			err = web.IfMatch(c, removed) // its error undoes the statement
		}
		return err
	})
}
