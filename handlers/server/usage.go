package server

import (
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/subproduct/handlers/web"
	"example.com/subproduct/tenancy"
)

// slowStatement is what a statement may take without being logged.
const slowStatement = 200 * time.Millisecond

// measure has the request's line in the log say what it has cost at the database.
func measure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx, used := tenancy.WithUsage(c.Request().Context(), web.RequestID(c))
		c.SetRequest(c.Request().WithContext(ctx))
		err := next(c)
		if left := used.End(ctx); left > 0 {
			web.Note(c, slog.Int("rows_left_open", left)) // the handler is to close them
		}
		web.Note(c, web.Milliseconds("db_ms", used.Database()), web.Milliseconds("db_wait_ms", used.Waiting()),
			slog.Int64("statements", used.Statements()))
		return err
	}
}
