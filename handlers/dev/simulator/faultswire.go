package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// text is a duration as people write it: "6s", "150ms"; empty is none.
type text time.Duration

func (t text) MarshalText() ([]byte, error) {
	if t == 0 {
		return nil, nil
	}
	return []byte(time.Duration(t).String()), nil
}

func (t *text) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*t = 0
		return nil
	}
	d, err := time.ParseDuration(string(b))
	if err != nil || d < 0 {
		return fmt.Errorf("%q is no length of time such as 6s or 150ms", b)
	}
	*t = text(d)
	return nil
}

// plainFaults is Faults without its methods.
type plainFaults Faults

// faultsJSON is Faults with its durations as text; the outer fields win.
type faultsJSON struct {
	*plainFaults
	UserInfoDelay text `json:"userInfoDelay"`
	DeliveryDelay text `json:"deliveryDelay"`
	HealthDelay   text `json:"healthDelay"`
}

// MarshalJSON writes durations as text, "6s".
func (f Faults) MarshalJSON() ([]byte, error) {
	return json.Marshal(faultsJSON{(*plainFaults)(&f), text(f.UserInfoDelay), text(f.DeliveryDelay), text(f.HealthDelay)})
}

// UnmarshalJSON reads what MarshalJSON writes; what is left out is off.
func (f *Faults) UnmarshalJSON(b []byte) error {
	var out Faults
	in := faultsJSON{plainFaults: (*plainFaults)(&out)}
	if err := decodeJSON(b, &in); err != nil {
		return err
	}
	out.UserInfoDelay, out.DeliveryDelay, out.HealthDelay =
		time.Duration(in.UserInfoDelay), time.Duration(in.DeliveryDelay), time.Duration(in.HealthDelay)
	if err := out.check(); err != nil {
		return err
	}
	*f = out
	return nil
}

// check refuses what would do nothing, or too much.
func (f Faults) check() error {
	const many = 200
	switch {
	case f.UserInfoStatus != 0 && (f.UserInfoStatus < 200 || f.UserInfoStatus > 599):
		return fmt.Errorf("%w: %d is no status to answer with", ErrInvalid, f.UserInfoStatus)
	case f.DeliveryDuplicates < 0 || f.DeliveryDuplicates > many || f.DeliveryBurst < 0 || f.DeliveryBurst > many:
		return fmt.Errorf("%w: duplicates and burst are 0 to %d", ErrInvalid, many)
	case f.DeliveryAttempts < 0:
		return fmt.Errorf("%w: deliveryAttempts is 0 or more", ErrInvalid)
	}
	switch f.UserInfoBody {
	case "", BodyGarbage, BodyNumbers, BodyHuge, BodyCut:
	default:
		return fmt.Errorf("%w: userInfoBody %q means nothing", ErrInvalid, f.UserInfoBody)
	}
	switch f.DeliverySignature {
	case "", SignatureWrong, SignatureMissing:
	default:
		return fmt.Errorf("%w: deliverySignature %q means nothing", ErrInvalid, f.DeliverySignature)
	}
	return nil
}

// setFaults is POST /_sim/faults: all of them; what is left out is off.
func (p *Platform) setFaults(_ *http.Request, f Faults) (Faults, error) {
	p.SetFaults(f)
	return f, nil
}
