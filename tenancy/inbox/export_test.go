package inbox

// Queries of the poller and of the metrics.
const (
	DueSQL        = dueSQL
	StatisticsSQL = statisticsSQL
)
