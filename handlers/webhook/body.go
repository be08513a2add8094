package webhook

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	maxBody = 1 << 20
	// maxBodies bounds the bytes of all bodies at once: anybody can send bodies
	// with a signature that is well-formed and wrong.
	maxBodies = 32 << 20
	// freeBody is how much of each body is not counted. Events are small, and
	// large bodies that stall do not keep them out.
	freeBody = 16 << 10
)

// errNoRoom says that maxBodies is reached.
var errNoRoom = errors.New("too many bodies at once")

// body is a request's body that is counted as it arrives.
type body struct {
	io.Reader
	all     *atomic.Int64 // bytes of all bodies
	free    int64
	counted int64
}

func (b *body) Read(p []byte) (n int, err error) {
	n, err = b.Reader.Read(p)
	free := min(int64(n), b.free)
	more := int64(n) - free
	b.free, b.counted = b.free-free, b.counted+more
	if more > 0 && b.all.Add(more) > maxBodies {
		return n, errNoRoom
	}
	return n, err
}

// read returns the whole body, or the answer to one that cannot be taken. It
// must be there within answerTimeout. release must be called when the bytes are not
// needed any more.
func (r *Receiver) read(c echo.Context) (content []byte, release func(), refused *refusal) {
	request := c.Request()
	if request.ContentLength > maxBody {
		return nil, func() {}, &refusal{http.StatusRequestEntityTooLarge, "body over 1 MiB"}
	}
	connection := http.NewResponseController(c.Response())
	_ = connection.SetReadDeadline(time.Now().Add(answerTimeout)) // a connection without deadlines is no client's
	counted := &body{Reader: http.MaxBytesReader(c.Response(), request.Body, maxBody), all: &r.bodies, free: freeBody}
	release = func() { r.bodies.Add(-counted.counted) }
	content, err := io.ReadAll(counted)
	if err != nil {
		release()
		return nil, func() {}, refuse(err)
	}
	// A deadline that passes later would end the request's context.
	_ = connection.SetReadDeadline(time.Time{})
	return content, release, nil
}

// refuse maps an error of reading a body to its answer.
func refuse(err error) *refusal {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &refusal{http.StatusRequestEntityTooLarge, "body over 1 MiB"}
	case errors.Is(err, errNoRoom):
		return &refusal{http.StatusServiceUnavailable, "too much at once, send it again"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{http.StatusRequestTimeout, "the body took too long"}
	}
	return &refusal{http.StatusBadRequest, "body cut off"}
}

// refusal is an answer to a request whose body was not read to its end.
type refusal struct {
	status int
	text   string
}

// send answers and ends the connection: what is left of the body is not waited
// for.
func (f refusal) send(c echo.Context) error {
	c.Response().Header().Set(echo.HeaderConnection, "close")
	if f.status == http.StatusServiceUnavailable {
		c.Response().Header().Set(echo.HeaderRetryAfter, "1")
	}
	return c.String(f.status, f.text)
}
