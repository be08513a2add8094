package tenancy

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Finding is what Checkup has seen of one thing.
type Finding struct {
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	Sentence string   `json:"sentence"`
	// Statement mends it: SQL for an administrator, or what to set. Empty where
	// there is nothing to mend, or no one statement does.
	Statement string `json:"statement,omitempty"`
}

// Severity says how bad a finding is.
type Severity string

// Severities of findings. A Failure ends the start of a server, but for
// CheckReadOnly, which may pass by itself.
const (
	OK      Severity = "ok"
	Warning Severity = "warning"
	Failure Severity = "failure"
)

// Names of findings, in the order of Checkup.
const (
	CheckVersion  = "server version"   // a Warning under 14
	CheckReadOnly = "read-only"        // a Failure: a standby, or made so
	CheckSchemas  = "create schemas"   // a Failure: no tenant can be made
	CheckPublic   = "create in public" // where missing: a Failure with MigrateOnUse, else a Warning
	CheckPlanting = "foreign code"     // a Warning where every login may create in public
	CheckPooler   = "pooler"           // a Failure where it loses prepared statements that pgx relies on
)

// oldestServer is the oldest version of PostgreSQL that is known to work.
const oldestServer = 14

// facts are what one query says of the database and of our rights in it.
type facts struct {
	backend            uint32
	version            int
	readOnly           bool
	schemas, public    bool   // our login may create
	planting, ours     bool   // everybody may create in public; we own it
	grant, grantPublic string // what gives our login the two rights
}

func readFacts(ctx context.Context, conn *pgx.Conn) (f facts, err error) {
	err = conn.QueryRow(ctx, `
		SELECT pg_backend_pid(), current_setting('server_version_num')::int / 10000, current_setting('transaction_read_only')::bool,
			has_database_privilege(current_database(), 'CREATE'), coalesce(has_schema_privilege(n.oid, 'CREATE'), false),
			coalesce(has_schema_privilege('public', n.oid, 'CREATE'), false), coalesce(pg_has_role(n.nspowner, 'USAGE'), false),
			format('GRANT CREATE ON DATABASE %I TO %I', current_database(), current_user), format('GRANT CREATE ON SCHEMA public TO %I', current_user)
		FROM (VALUES ('public')) public (name) LEFT JOIN pg_namespace n ON nspname = name`, pgx.QueryExecModeExec).
		Scan(&f.backend, &f.version, &f.readOnly, &f.schemas, &f.public, &f.planting, &f.ours, &f.grant, &f.grantPublic)
	return f, err
}

// Checkup looks at what a server needs of its database, over connections of its
// own, and returns one Finding for each name above. It changes nothing. An
// error means that the database could not be asked.
func (db *DB) Checkup(ctx context.Context) ([]Finding, error) {
	conn, err := db.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer closeConn(ctx, conn)
	f, err := readFacts(ctx, conn)
	if err != nil {
		return nil, err
	}
	mayMigrate := Warning
	if db.options.MigrateOnUse {
		mayMigrate = Failure
	}
	return []Finding{
		judge(CheckVersion, f.version >= oldestServer, Warning, fmt.Sprintf("PostgreSQL %d", f.version),
			fmt.Sprintf("PostgreSQL %d is older than %d, the oldest that is known to work", f.version, oldestServer), ""),
		judge(CheckReadOnly, !f.readOnly, Failure, "the database takes writes",
			"it is a standby, or default_transaction_read_only is on; with several hosts in DATABASE_URL add target_session_attrs=read-write", ""),
		judge(CheckSchemas, f.schemas, Failure, "the login may create tenants' schemas",
			"the login may not create schemas, so no tenant can be made", f.grant),
		judge(CheckPublic, f.public, mayMigrate, "the login may create tables in public",
			"the login may not create tables in public, so the shared schema cannot be migrated", f.grantPublic),
		judge(CheckPlanting, !f.planting || f.ours && db.options.MigrateOnUse, Warning, "only trusted logins may create in public",
			"every login of this database may plant functions in the schema public, which this program's login then runs", revokePublic),
		db.checkPooler(ctx, conn, f.backend),
	}, nil
}

func judge(name string, fine bool, otherwise Severity, good, bad, statement string) Finding {
	if fine {
		return Finding{Name: name, Severity: OK, Sentence: good}
	}
	return Finding{Name: name, Severity: otherwise, Sentence: bad, Statement: statement}
}

// connect opens a connection beside the pool.
func (db *DB) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
}

// closeConn does not wait for ever, also where ctx is over.
func closeConn(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_ = conn.Close(ctx)
}
