package platform

import (
	"context"
	"errors"
)

// outcome is how an exchange ended, in one word, for metrics.
func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, context.Canceled):
		return "left" // the browser did
	case errors.Is(err, ErrKeyRefused):
		return "key_refused"
	case errors.Is(err, ErrCodeRefused):
		return "refused"
	case errors.Is(err, ErrTimeout):
		return "timeout"
	case errors.Is(err, ErrBadAnswer):
		return "bad_answer"
	}
	return "unavailable"
}
