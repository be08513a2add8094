package simulator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/subproduct/handlers/platform"
)

// What user-info can answer instead of the truth.
const (
	BodyGarbage = "garbage" // 200 with text that is no JSON
	BodyNumbers = "numbers" // numbers where the contract has strings
	BodyHuge    = "huge"    // 2 MiB
	BodyCut     = "cut"     // the connection ends half-way through the body
)

// Faults are the ways in which the platform misbehaves on purpose. Each stays
// on until it is turned off; the zero value is a platform that keeps the
// contract.
type Faults struct {
	UserInfoDelay  Delay  `json:"userInfoDelay"`  // before the answer; the code is spent at once
	UserInfoStatus int    `json:"userInfoStatus"` // instead of 200
	UserInfoBody   string `json:"userInfoBody"`   // one of BodyGarbage, BodyNumbers, BodyHuge, BodyCut

	DeliveryDuplicates int    `json:"deliveryDuplicates"` // further copies of each, at the same time
	DeliveryBurst      int    `json:"deliveryBurst"`      // further events with ids of their own, likewise
	DeliveryReorder    bool   `json:"deliveryReorder"`    // each two change places, within 10 s
	DeliveryDelay      Delay  `json:"deliveryDelay"`      // before each first attempt
	DeliveryDrop       bool   `json:"deliveryDrop"`       // nothing is sent
	DeliveryCutBody    bool   `json:"deliveryCutBody"`    // the connection ends half-way
	DeliverySignature  string `json:"deliverySignature"`  // SignatureWrong or SignatureMissing
	DeliveryBare       bool   `json:"deliveryBare"`       // bodies of type and tenant alone
	DeliveryAttempts   int    `json:"deliveryAttempts"`   // how many drop, cut and signature apply to; 0: all

	HealthDelay Delay `json:"healthDelay"` // of the next probe alone, within its 5 s
}

// Values of Faults.DeliverySignature.
const (
	SignatureWrong   = "wrong"   // of another secret
	SignatureMissing = "missing" // no header
)

// Faults returns the faults that are on.
func (p *Platform) Faults() Faults {
	defer p.lock()()
	return p.faults
}

// SetFaults replaces all faults. Deliveries that the reorder fault held are
// sent when it is off now.
func (p *Platform) SetFaults(f Faults) {
	defer p.change()()
	p.faults = f
	if !f.DeliveryReorder {
		p.release(time.Now())
	}
}

// apply puts the faults into an attempt; made counts those before it.
func (f Faults) apply(out *outgoing, made int) {
	if f.DeliveryAttempts > 0 && made >= f.DeliveryAttempts {
		return
	}
	var did []string
	switch f.DeliverySignature {
	case SignatureWrong:
		out.signature, did = platform.Sign("another secret", out.body), append(did, "wrong signature")
	case SignatureMissing:
		out.signature, did = "", append(did, "no signature")
	}
	if f.DeliveryCutBody {
		out.cut, did = true, append(did, fmt.Sprintf("cut after %d of %d bytes", len(out.body)/2, len(out.body)))
	}
	if f.DeliveryDrop {
		out.drop, did = true, []string{"dropped"}
	}
	out.fault = strings.Join(did, ", ")
}

// Delay is a duration as people write it: "6s", "150ms"; empty is none.
type Delay time.Duration

func (d Delay) String() string { return time.Duration(d).String() }

func (d Delay) MarshalText() ([]byte, error) {
	if d == 0 {
		return nil, nil
	}
	return []byte(d.String()), nil
}

func (d *Delay) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = 0
		return nil
	}
	read, err := time.ParseDuration(string(b))
	if err != nil || read < 0 {
		return fmt.Errorf("%q is no duration such as 6s or 150ms", b)
	}
	*d = Delay(read)
	return nil
}

// check refuses what would do nothing, or too much.
func (f Faults) check() error {
	const many = 200
	for name, ok := range map[string]bool{
		"userInfoStatus":     f.UserInfoStatus == 0 || f.UserInfoStatus >= 200 && f.UserInfoStatus <= 599,
		"userInfoBody":       slices.Contains([]string{"", BodyGarbage, BodyNumbers, BodyHuge, BodyCut}, f.UserInfoBody),
		"deliveryDuplicates": f.DeliveryDuplicates >= 0 && f.DeliveryDuplicates <= many,
		"deliveryBurst":      f.DeliveryBurst >= 0 && f.DeliveryBurst <= many,
		"deliverySignature":  slices.Contains([]string{"", SignatureWrong, SignatureMissing}, f.DeliverySignature),
		"deliveryAttempts":   f.DeliveryAttempts >= 0,
	} {
		if !ok {
			return fmt.Errorf("%w: %s has a value that means nothing; the API page lists what it takes", ErrInvalid, name)
		}
	}
	return nil
}
