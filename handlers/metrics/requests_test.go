package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/metrics"
)

// measured is a request's way through the middleware, and nothing else.
func measured() (handle echo.HandlerFunc, c echo.Context) {
	c = echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/items", http.NoBody), httptest.NewRecorder())
	c.SetPath("/items")
	return metrics.New("app", "v1").Requests(func(echo.Context) error { return nil }), c
}

// Measuring a request takes no memory, from the second of its kind on.
func TestRequests_MeasuringTakesNoMemory(t *testing.T) { // not parallel: it counts allocations
	handle, c := measured()
	if n := testing.AllocsPerRun(100, func() { _ = handle(c) }); n > 0 {
		t.Errorf("%v allocations a request", n)
	}
}

// Where nothing is measured the handler is not wrapped.
func TestRequests_NilIsTheHandlerItself(t *testing.T) {
	t.Parallel()
	var off *metrics.Metrics
	calls := 0
	handle := off.Requests(func(echo.Context) error { calls++; return nil })
	if err := handle(nil); err != nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func BenchmarkRequests(b *testing.B) {
	handle, c := measured()
	b.ReportAllocs()
	for b.Loop() {
		_ = handle(c)
	}
}
