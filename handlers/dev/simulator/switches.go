package simulator

import (
	"fmt"
	"net/http"
	"time"
)

// faultSwitch is a fault at a click, with a usual value.
type faultSwitch struct {
	Key, Group, Name, Does string
	isOn                   func(Faults) bool
	set                    func(f *Faults, on bool)
}

// Groups of switches.
const (
	groupUserInfo = "User information"
	groupDelivery = "Deliveries"
	groupHealth   = "Health probe"
)

// switches are all of them, in the console's order.
func switches() []faultSwitch {
	return append(userInfoSwitches(), deliverySwitches()...)
}

func userInfoSwitches() []faultSwitch {
	body := func(key, name, does string) faultSwitch {
		return faultSwitch{key, groupUserInfo, name, does,
			func(f Faults) bool { return f.UserInfoBody == key },
			func(f *Faults, on bool) { f.UserInfoBody = pick(on, key) }}
	}
	return []faultSwitch{
		{"slow", groupUserInfo, "Slow", "Answers after 6 seconds; the product may wait 5.",
			func(f Faults) bool { return f.UserInfoDelay > 0 },
			func(f *Faults, on bool) { f.UserInfoDelay = pick(on, 6*time.Second) }},
		{"error", groupUserInfo, "Fails", "Answers 500.",
			func(f Faults) bool { return f.UserInfoStatus != 0 },
			func(f *Faults, on bool) { f.UserInfoStatus = pick(on, http.StatusInternalServerError) }},
		body(BodyGarbage, "Garbage", "Answers 200 with HTML."),
		body(BodyNumbers, "Numbers", "Answers numbers where the contract has strings."),
		body(BodyHuge, "Huge", "Answers 2 MiB."),
		body(BodyCut, "Cut off", "Closes the connection half-way through the answer."),
	}
}

func deliverySwitches() []faultSwitch {
	return []faultSwitch{
		{"duplicate", groupDelivery, "Duplicate", "Sends each event twice at the same time.",
			func(f Faults) bool { return f.DeliveryDuplicates > 0 },
			func(f *Faults, on bool) { f.DeliveryDuplicates = pick(on, 1) }},
		{"reorder", groupDelivery, "Reorder", "Holds an event until the next has been sent, 10 seconds at most.",
			func(f Faults) bool { return f.DeliveryReorder },
			func(f *Faults, on bool) { f.DeliveryReorder = on }},
		{"delay", groupDelivery, "Delay", "Sends each event 10 seconds late.",
			func(f Faults) bool { return f.DeliveryDelay > 0 },
			func(f *Faults, on bool) { f.DeliveryDelay = pick(on, 10*time.Second) }},
		{"drop", groupDelivery, "Drop", "Never sends anything: every attempt is lost.",
			func(f Faults) bool { return f.DeliveryDrop },
			func(f *Faults, on bool) { f.DeliveryDrop = on }},
		{"signature", groupDelivery, "Wrong signature", "Signs with another secret.",
			func(f Faults) bool { return f.DeliverySignature != "" },
			func(f *Faults, on bool) { f.DeliverySignature = pick(on, SignatureWrong) }},
		{"cut-body", groupDelivery, "Cut body", "Closes the connection half-way through the body.",
			func(f Faults) bool { return f.DeliveryCutBody },
			func(f *Faults, on bool) { f.DeliveryCutBody = on }},
		{"burst", groupDelivery, "Burst", "Sends 20 further events like it, all at once.",
			func(f Faults) bool { return f.DeliveryBurst > 0 },
			func(f *Faults, on bool) { f.DeliveryBurst = pick(on, 20) }},
		{"bare", groupDelivery, "Bare", "Sends neither id nor time, so that an event that is sent again later is the same bytes.",
			func(f Faults) bool { return f.DeliveryBare },
			func(f *Faults, on bool) { f.DeliveryBare = on }},
		{"first-only", groupDelivery, "First attempt only", "Drop, wrong signature and cut body spare the retries.",
			func(f Faults) bool { return f.DeliveryAttempts > 0 },
			func(f *Faults, on bool) { f.DeliveryAttempts = pick(on, 1) }},
		{"probe-slow", groupHealth, "Next probe slow", "The next probe takes longer than its 5 seconds; that one only.",
			func(f Faults) bool { return f.HealthDelay > 0 },
			func(f *Faults, on bool) { f.HealthDelay = pick(on, 6*time.Second) }},
	}
}

// pick returns value when on, else nothing.
func pick[T any](on bool, value T) (_ T) {
	if on {
		return value
	}
	var none T
	return none
}

// Broken returns the names of the faults that are on.
func (f Faults) Broken() []string {
	var names []string
	for _, s := range switches() {
		if s.isOn(f) {
			names = append(names, s.Name)
		}
	}
	return names
}

// switchFault is POST /_sim/faults/switch: one fault on or off.
func (p *Platform) switchFault(_ *http.Request, in struct {
	Fault string `json:"fault"`
	On    bool   `json:"on"`
}) (Faults, error) {
	for _, s := range switches() {
		if s.Key == in.Fault {
			f := p.Faults()
			s.set(&f, in.On)
			p.SetFaults(f)
			return f, nil
		}
	}
	return Faults{}, fmt.Errorf("fault %q: %w", in.Fault, ErrUnknown)
}
