// Package doctor looks at a configuration and at everything that it points to,
// and says what is wrong and what to do about it. It changes nothing, sends no
// code and no event, and shows no secret.
package doctor

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/tenancy"
)

// Statuses of a line.
const (
	OK      = "ok"
	Warning = "warning" // it serves, and somebody should look
	Failure = "failure"
)

// Line is what was seen of one thing.
type Line struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix"` // what to do; empty where there is nothing to do
}

// Doctor is what is looked at.
type Doctor struct {
	Config   config.Config
	Problems error       // what config.Load said of the configuration; may be nil
	DB       *tenancy.DB // may be nil where DATABASE_URL is not usable
}

// check is one look at something. What it returns is named after it, unless it
// has a name already.
type check struct {
	name  string
	needs []string // settings that must be right
	look  func(context.Context) []Line
}

// checks are all of them, in the order of the output.
func (d *Doctor) checks(ctx context.Context) []check {
	database, public := []string{"DATABASE_URL"}, []string{"PUBLIC_URL"}
	offset := sync.OnceValues(func() (time.Duration, error) { return d.databaseOffset(ctx) })
	answering := func(look func(context.Context) []Line) func(context.Context) []Line {
		return func(ctx context.Context) []Line {
			if _, err := offset(); err != nil {
				return notChecked("the database does not answer")
			}
			return look(ctx)
		}
	}
	return []check{
		{"settings", nil, d.settings},
		{"database", database, d.database},
		{"database clock", database, answering(func(context.Context) []Line { return clock(offset()) })},
		{"schema", database, answering(d.schema)},
		{"events", database, answering(d.events)},
		{"jobs", database, answering(d.jobs)},
		{"platform", []string{"PLATFORM_BASE_URL"}, d.platform},
		{"sign-in page", []string{"PLATFORM_URL", "PUBLIC_URL", "APP_SLUG"}, d.signInPage},
		{"health address", public, d.healthAddress},
		{"callback address", public, d.callbackAddress},
		{"webhook address", []string{"PUBLIC_URL", "WEBHOOK_SECRET"}, d.webhookAddress},
	}
}

// checkTimeout bounds each check.
const checkTimeout = 5 * time.Second

// Examine makes all checks at once, and returns their lines in a fixed order.
func (d *Doctor) Examine(ctx context.Context) []Line {
	checks := d.checks(ctx)
	found := make([][]Line, len(checks))
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, checkTimeout)
			defer cancel()
			found[i] = d.run(ctx, c)
		})
	}
	all.Wait()
	return slices.Concat(found...)
}

func (d *Doctor) run(ctx context.Context, c check) []Line {
	var lines []Line
	if wrong := slices.IndexFunc(c.needs, func(name string) bool { return !d.Usable(name) }); wrong >= 0 {
		lines = notChecked(c.needs[wrong] + " is not usable")
	} else {
		lines = c.look(ctx)
	}
	for i := range lines {
		if lines[i].Check == "" {
			lines[i].Check = c.name
		}
		lines[i].Detail = strings.Join(strings.Fields(lines[i].Detail), " ") // errors may have several lines
	}
	return lines
}

func ok(detail string) []Line           { return []Line{{Status: OK, Detail: detail}} }
func warning(detail, fix string) []Line { return []Line{{Status: Warning, Detail: detail, Fix: fix}} }
func failure(detail, fix string) []Line { return []Line{{Status: Failure, Detail: detail, Fix: fix}} }

func notChecked(why string) []Line { return warning("not checked: "+why, "repair that first") }
