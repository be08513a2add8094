package inbox

// DueSQL is the poller's query.
const DueSQL = dueSQL
