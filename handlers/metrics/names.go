package metrics

import "github.com/prometheus/client_golang/prometheus"

// What the database and its pools are measured by. Each replica that is asked
// says the same of events and tenants: take their max, never their sum.
var (
	up               = describe("app_database_up", "1 while the database answers the health probe.")
	readOnly         = describe("app_database_read_only", "1 while nothing can be written: a standby, or a primary that is closed.")
	tenants          = describe("app_tenants", "Tenants by status and version of their schema.", "status", "version")
	maxConnections   = describe("app_database_pool_connections_max", "Connections that a pool may have.", "pool")
	connections      = describe("app_database_pool_connections", "Connections of a pool, by state: acquired, idle, constructing.", "pool", "state")
	acquireSeconds   = describe("app_database_pool_acquire_seconds", "What getting a connection of a pool took.", "pool")
	webhookEvents    = describe("app_webhook_events", "Events of the platform that are pending or failed.", "status")
	oldestPending    = describe("app_webhook_oldest_pending_seconds", "Age of the oldest event that is pending; 0: none is.")
	jobCounts        = describe("app_jobs", "Background jobs that are pending, running or failed.", "status")
	oldestJob        = describe("app_jobs_oldest_due_seconds", "How long the first job that is due has waited; 0: none is due.")
	failedMigrations = describe("app_tenants_migration_failed", "Tenants whose last migration failed.")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

func gauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
