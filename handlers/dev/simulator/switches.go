package simulator

import (
	"fmt"
	"net/http"
	"reflect"
	"time"
)

// faultSwitch turns one fault on or off, with a usual value.
type faultSwitch struct {
	Key, Group, Name, Does string
	sets                   Faults // its one field that is not zero is the fault
}

// Groups of switches, in the console's order.
const (
	groupUserInfo = "User information"
	groupHealth   = "Health probe"
	groupDelivery = "Deliveries"
)

// switches are all of them, in the console's order.
func switches() []faultSwitch {
	return []faultSwitch{
		{"slow", groupUserInfo, "Slow", "Answers after 6 seconds; the product may wait 5.", Faults{UserInfoDelay: Delay(6 * time.Second)}},
		{"error", groupUserInfo, "Fails", "Answers 500.", Faults{UserInfoStatus: http.StatusInternalServerError}},
		{BodyGarbage, groupUserInfo, "Garbage", "Answers 200 with HTML.", Faults{UserInfoBody: BodyGarbage}},
		{BodyNumbers, groupUserInfo, "Numbers", "Answers numbers where the contract has strings.", Faults{UserInfoBody: BodyNumbers}},
		{BodyHuge, groupUserInfo, "Huge", "Answers 2 MiB.", Faults{UserInfoBody: BodyHuge}},
		{BodyCut, groupUserInfo, "Cut off", "Closes the connection half-way through the answer.", Faults{UserInfoBody: BodyCut}},
		{"probe-slow", groupHealth, "Next probe slow", "The next probe takes longer than its 5 seconds; that one only.", Faults{HealthDelay: Delay(6 * time.Second)}},
		{"duplicate", groupDelivery, "Duplicate", "Sends each event twice at the same time.", Faults{DeliveryDuplicates: 1}},
		{"reorder", groupDelivery, "Reorder", "Holds an event until the next has been sent, 10 seconds at most.", Faults{DeliveryReorder: true}},
		{"delay", groupDelivery, "Delay", "Sends each event 10 seconds late.", Faults{DeliveryDelay: Delay(10 * time.Second)}},
		{"drop", groupDelivery, "Drop", "Never sends anything: every attempt is lost.", Faults{DeliveryDrop: true}},
		{"signature", groupDelivery, "Wrong signature", "Signs with another secret.", Faults{DeliverySignature: SignatureWrong}},
		{"no-signature", groupDelivery, "No signature", "Sends no signature.", Faults{DeliverySignature: SignatureMissing}},
		{"cut-body", groupDelivery, "Cut body", "Closes the connection half-way through the body.", Faults{DeliveryCutBody: true}},
		{"burst", groupDelivery, "Burst", "Sends 20 further events like it, all at once.", Faults{DeliveryBurst: 20}},
		{"bare", groupDelivery, "Bare", "Sends neither id nor time, so that the same event sent later is the same bytes.", Faults{DeliveryBare: true}},
		{"first-only", groupDelivery, "First attempt only", "Drop, signature and cut body spare the retries.", Faults{DeliveryAttempts: 1}},
	}
}

// fields are the switch's field in f and the value that the switch gives it.
func (s faultSwitch) fields(f *Faults) (field, value reflect.Value) {
	all := reflect.ValueOf(s.sets)
	i := 0
	for all.Field(i).IsZero() {
		i++
	}
	return reflect.ValueOf(f).Elem().Field(i), all.Field(i)
}

// isOn says whether f has the switch's fault: of a text this very value, of
// anything else any value.
func (s faultSwitch) isOn(f Faults) bool {
	field, value := s.fields(&f)
	return field.Equal(value) || value.Kind() != reflect.String && !field.IsZero()
}

// On returns the names of the faults that are on.
func (f Faults) On() (names []string) {
	for _, s := range switches() {
		if s.isOn(f) {
			names = append(names, s.Name)
		}
	}
	return names
}

// switchFault is POST /_sim/faults/switch: one fault on or off.
func (p *Platform) switchFault(_ *http.Request, in input) (Faults, error) {
	for _, s := range switches() {
		if s.Key == in.Fault {
			f := p.Faults()
			field, value := s.fields(&f)
			if field.SetZero(); in.On {
				field.Set(value)
			}
			p.SetFaults(f)
			return f, nil
		}
	}
	return Faults{}, fmt.Errorf("fault %q: %w", in.Fault, ErrUnknown)
}
