package simulator

import (
	"fmt"
	"net/http"
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
	// Callbacks are the two payment channels that called back after a refund
	// (contract, section 4.3); here they are only recorded.
	Callbacks []string `json:"refundCallbacks,omitempty"`
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

func (o Order) key() (kind, id string)   { return "order", o.ID }
func (i Invoice) key() (kind, id string) { return "invoice", i.ID }

// orderInput is what the calls about orders take.
type orderInput struct {
	Order  string `json:"orderId"`
	Title  string `json:"title"`
	Reason string `json:"reason"`
}

// refund is POST /orders/{id}/refund.
func (p *Platform) refund(r *http.Request, who caller, _ orderInput) (Order, error) {
	defer p.change()()
	order, err := p.state.orderOf(who, r.PathValue("id"))
	if err != nil {
		return Order{}, err
	}
	if order.Status != OrderPaid {
		return Order{}, fmt.Errorf("%w: order %s is %s", ErrInvalid, order.ID, order.Status)
	}
	order.Status, order.Callbacks = OrderRefunded, []string{"channel-1", "channel-2"}
	return *order, nil
}

// requestInvoice is POST /invoices: the console shows the invoice for approval.
func (p *Platform) requestInvoice(_ *http.Request, who caller, in orderInput) (Invoice, error) {
	defer p.change()()
	order, err := p.state.orderOf(who, in.Order)
	if err != nil {
		return Invoice{}, err
	}
	invoice := Invoice{
		ID: p.state.number("inv"), Tenant: order.Tenant, Order: order.ID, Title: in.Title,
		Status: InvoiceRequested, CreatedAt: time.Now().UTC(),
	}
	p.state.Invoices = append(p.state.Invoices, invoice)
	return invoice, nil
}

// approveInvoice is the administration's part.
func (p *Platform) approveInvoice(_ *http.Request, in input) (Invoice, error) {
	defer p.change()()
	invoice, err := find(p.state.Invoices, in.ID)
	if err != nil {
		return Invoice{}, err
	}
	invoice.Status = InvoiceApproved
	return *invoice, nil
}

// orderOf returns an order that the caller may see, or ErrUnknown.
func (s *state) orderOf(who caller, id string) (*Order, error) {
	order, err := find(s.Orders, id)
	if err == nil && !who.maySee(order.Tenant) {
		err = fmt.Errorf("order %q: %w", id, ErrUnknown)
	}
	return order, err
}
