package inbox

// Queries of the poller and of the metrics.
const (
	DueSQL        = dueSQL
	StatisticsSQL = statisticsSQL
)

// ArrivalsWaiting is how many events are in no statement yet.
func (in *Inbox) ArrivalsWaiting() int { return in.arrivals.Waiting() }
