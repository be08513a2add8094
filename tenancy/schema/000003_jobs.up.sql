-- Background jobs. What begins with river_ is the schema of riverqueue/river,
-- versions 1 to 8 of its migrations in one: its own files cannot run in one
-- transaction. A test compares the two; a later version of River that migrates
-- needs the next file here.
CREATE TYPE public.river_job_state AS ENUM (
    'available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled'
);

CREATE FUNCTION public.river_job_state_in_bitmask(bitmask bit(8), state public.river_job_state)
RETURNS boolean
LANGUAGE SQL
IMMUTABLE
AS $$
    SELECT CASE state
        WHEN 'available' THEN get_bit(bitmask, 7)
        WHEN 'cancelled' THEN get_bit(bitmask, 6)
        WHEN 'completed' THEN get_bit(bitmask, 5)
        WHEN 'discarded' THEN get_bit(bitmask, 4)
        WHEN 'pending'   THEN get_bit(bitmask, 3)
        WHEN 'retryable' THEN get_bit(bitmask, 2)
        WHEN 'running'   THEN get_bit(bitmask, 1)
        WHEN 'scheduled' THEN get_bit(bitmask, 0)
        ELSE 0
    END = 1;
$$;

-- metadata has the job's tenant, {"tenant": "<slug>"}; a shared job has none.
CREATE TABLE public.river_job (
    id            bigserial              PRIMARY KEY,
    state         public.river_job_state NOT NULL DEFAULT 'available',
    attempt       smallint               NOT NULL DEFAULT 0,
    max_attempts  smallint               NOT NULL DEFAULT 25,
    attempted_at  timestamptz,
    created_at    timestamptz            NOT NULL DEFAULT now(),
    finalized_at  timestamptz,
    scheduled_at  timestamptz            NOT NULL DEFAULT now(),
    priority      smallint               NOT NULL DEFAULT 1,
    args          jsonb                  NOT NULL,
    attempted_by  text[],
    errors        jsonb[],
    kind          text                   NOT NULL,
    metadata      jsonb                  NOT NULL DEFAULT '{}',
    queue         text                   NOT NULL DEFAULT 'default',
    tags          varchar(255)[]         NOT NULL DEFAULT '{}',
    unique_key    bytea,
    unique_states bit(8),
    CONSTRAINT finalized_or_finalized_at_null CHECK (
        (finalized_at IS NULL AND state NOT IN ('cancelled', 'completed', 'discarded')) OR
        (finalized_at IS NOT NULL AND state IN ('cancelled', 'completed', 'discarded'))),
    CONSTRAINT max_attempts_is_positive CHECK (max_attempts > 0),
    CONSTRAINT priority_in_range CHECK (priority >= 1 AND priority <= 4),
    CONSTRAINT queue_length CHECK (char_length(queue) > 0 AND char_length(queue) < 128),
    CONSTRAINT kind_length CHECK (char_length(kind) > 0 AND char_length(kind) < 128)
);
CREATE INDEX river_job_kind ON public.river_job (kind);
CREATE INDEX river_job_state_and_finalized_at_index ON public.river_job (state, finalized_at) WHERE finalized_at IS NOT NULL;
CREATE INDEX river_job_prioritized_fetching_index ON public.river_job (state, queue, priority, scheduled_at, id);
CREATE INDEX river_job_args_index ON public.river_job USING gin (args);
CREATE INDEX river_job_metadata_index ON public.river_job USING gin (metadata);
CREATE UNIQUE INDEX river_job_unique_idx ON public.river_job (unique_key)
    WHERE unique_key IS NOT NULL AND unique_states IS NOT NULL AND public.river_job_state_in_bitmask(unique_states, state);

CREATE UNLOGGED TABLE public.river_leader (
    elected_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    leader_id  text        NOT NULL,
    name       text        PRIMARY KEY DEFAULT 'default',
    CONSTRAINT name_length CHECK (name = 'default'),
    CONSTRAINT leader_id_length CHECK (char_length(leader_id) > 0 AND char_length(leader_id) < 128)
);

CREATE TABLE public.river_queue (
    name       text        PRIMARY KEY NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    metadata   jsonb       NOT NULL DEFAULT '{}'::jsonb,
    paused_at  timestamptz,
    updated_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE public.river_notification (
    id         bigserial   PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    payload    text        NOT NULL,
    topic      text        NOT NULL,
    CONSTRAINT topic_length CHECK (length(topic) > 0 AND length(topic) < 128)
);
CREATE INDEX river_notification_created_at_idx ON public.river_notification (created_at);
CREATE INDEX river_notification_topic_id_idx ON public.river_notification (topic, id);

CREATE TABLE public.river_migration (
    line       text        NOT NULL,
    version    bigint      NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT line_length CHECK (char_length(line) > 0 AND char_length(line) < 128),
    CONSTRAINT version_gte_1 CHECK (version >= 1),
    CONSTRAINT river_migration_pkey1 PRIMARY KEY (line, version) -- as River's own migrations name it
);
INSERT INTO public.river_migration (line, version) SELECT 'main', generate_series(1, 8);

-- The schedules of Every and EveryTenant: jobs that were due up to done_until
-- have been inserted.
CREATE TABLE public.job_schedules (
    kind       text        PRIMARY KEY,
    done_until timestamptz NOT NULL
);
