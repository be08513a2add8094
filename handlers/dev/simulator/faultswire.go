package simulator

import (
	"encoding/json"
	"fmt"
	"slices"
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
		return fmt.Errorf("%q is no duration such as 6s or 150ms", b)
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
