package simulator

import (
	"fmt"
	"slices"
	"time"
)

// Statuses of orders and invoices, the simulator's own like their fields.
const (
	OrderPaid        = "Paid"
	OrderRefunded    = "Refunded"
	InvoiceRequested = "Requested"
	InvoiceApproved  = "Approved"
)

// Order is what paid for a subscription.
type Order struct {
	ID           string    `json:"id"`
	Tenant       string    `json:"tenantSlug"`
	Subscription string    `json:"subscriptionId"`
	Plan         string    `json:"planType"`
	Status       string    `json:"status"`
	CreatedAt    time.Time `json:"createdAt"`
	// Callbacks are the refund's, one for each of the two payment channels
	// (contract, section 4.3); here they only stand in the record.
	Callbacks []RefundCallback `json:"refundCallbacks,omitempty"`
}

// RefundCallback is a payment channel's word on a refund.
type RefundCallback struct {
	Channel string    `json:"channel"`
	At      time.Time `json:"at"`
}

// Invoice is a request for one, which the administration approves.
type Invoice struct {
	ID        string    `json:"id"`
	Tenant    string    `json:"tenantSlug"`
	Order     string    `json:"orderId"`
	Title     string    `json:"title"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"createdAt"`
}

// refund gives the money of an order back.
func (p *Platform) refund(id string, caller caller) (Order, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	order := p.state.order(id)
	switch {
	case order == nil || !caller.mayTouch(order.Tenant):
		return Order{}, fmt.Errorf("order %q: %w", id, ErrUnknown)
	case order.Status != OrderPaid:
		return Order{}, fmt.Errorf("%w: order %s is %s", ErrInvalid, id, order.Status)
	}
	now := time.Now().UTC()
	order.Status = OrderRefunded
	order.Callbacks = []RefundCallback{{Channel: "channel-1", At: now}, {Channel: "channel-2", At: now}}
	p.touch()
	return *order, nil
}

// requestInvoice asks for an invoice of an order; the console shows it for
// approval.
func (p *Platform) requestInvoice(orderID, title string, caller caller) (Invoice, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	order := p.state.order(orderID)
	if order == nil || !caller.mayTouch(order.Tenant) {
		return Invoice{}, fmt.Errorf("order %q: %w", orderID, ErrUnknown)
	}
	invoice := Invoice{
		ID: p.state.number("inv"), Tenant: order.Tenant, Order: order.ID, Title: title,
		Status: InvoiceRequested, CreatedAt: time.Now().UTC(),
	}
	p.state.Invoices = append(p.state.Invoices, &invoice)
	p.touch()
	return invoice, nil
}

// approveInvoice is the administration's part.
func (p *Platform) approveInvoice(id string) (Invoice, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.state.Invoices, func(v *Invoice) bool { return v.ID == id })
	if i < 0 {
		return Invoice{}, fmt.Errorf("invoice %q: %w", id, ErrUnknown)
	}
	p.state.Invoices[i].Status = InvoiceApproved
	p.touch()
	return *p.state.Invoices[i], nil
}

// bills returns copies of all orders and invoices, newest first.
func (p *Platform) bills() (orders []Order, invoices []Invoice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range slices.Backward(p.state.Orders) {
		orders = append(orders, *o)
	}
	for _, v := range slices.Backward(p.state.Invoices) {
		invoices = append(invoices, *v)
	}
	return orders, invoices
}

func (s *state) order(id string) *Order {
	i := slices.IndexFunc(s.Orders, func(o *Order) bool { return o.ID == id })
	if i < 0 {
		return nil
	}
	return s.Orders[i]
}
