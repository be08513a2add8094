-- The registry of tenants. A tenant's data is in the schema tenant_<slug>;
-- schema_version is the newest migration that ran there.
CREATE TABLE public.tenants (
    slug            text        PRIMARY KEY CHECK (slug ~ '^[a-z0-9]([a-z0-9_-]{0,54}[a-z0-9])?$'),
    status          text        NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'cancelled')),
    plan_type       text        NOT NULL DEFAULT '',
    schema_version  bigint      NOT NULL,
    migrate_error   text,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    cancelled_at    timestamptz,
    commanded_at    timestamptz, -- when an operator last cancelled, restored or provisioned it
    last_sign_in_at timestamptz,
    purging_since   timestamptz  -- its data is being dropped: there is no way back
);
CREATE INDEX tenants_schema_version ON public.tenants (schema_version, slug);

-- Sessions of signed-in browsers. Only a hash of the cookie is kept: a stolen
-- row signs nobody in. tenant_slug is NULL while a sign-in is not finished.
CREATE TABLE public.sessions (
    id          bigint      GENERATED ALWAYS AS IDENTITY UNIQUE,
    token_hash  bytea       PRIMARY KEY,
    tenant_slug text        REFERENCES public.tenants (slug) ON DELETE CASCADE,
    user_id     text        NOT NULL DEFAULT '',
    user_agent  text        NOT NULL DEFAULT '',
    data        bytea       NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL
);
CREATE INDEX sessions_tenant_user ON public.sessions (tenant_slug, user_id);
CREATE INDEX sessions_expires_at ON public.sessions (expires_at);

-- The webhook inbox: the raw bytes of every event that was ever acknowledged.
-- newest marks the last row with the same bytes: the unique index on it makes
-- two copies that arrive at the same instant one event.
CREATE TABLE public.webhook_events (
    id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_type      text        NOT NULL,
    tenant_slug     text,
    lifecycle       boolean     NOT NULL DEFAULT false, -- it says what state the tenant is in
    status          text        NOT NULL CHECK (status IN ('pending', 'done', 'failed', 'ignored')),
    attempts        integer     NOT NULL DEFAULT 0,
    last_error      text,
    body            bytea       NOT NULL,
    body_sha256     bytea       NOT NULL,
    newest          boolean     NOT NULL DEFAULT true,
    answered        boolean     NOT NULL DEFAULT false, -- the platform was answered 2xx, as far as is known
    signed_with     text        NOT NULL DEFAULT 'current' CHECK (signed_with IN ('current', 'previous')),
    received_at     timestamptz NOT NULL DEFAULT now(),
    next_attempt_at timestamptz NOT NULL DEFAULT now(), -- of a claimed event: the end of the lease
    claimed_by      text,                               -- the process that has counted an attempt
    processed_at    timestamptz
);
CREATE UNIQUE INDEX webhook_events_newest ON public.webhook_events (body_sha256) WHERE newest;
CREATE INDEX webhook_events_queue ON public.webhook_events (tenant_slug, id) WHERE status = 'pending';
CREATE INDEX webhook_events_lifecycle ON public.webhook_events (tenant_slug, id) WHERE lifecycle;
CREATE INDEX webhook_events_lifecycle_queue ON public.webhook_events (tenant_slug, id) WHERE lifecycle AND status = 'pending';
CREATE INDEX webhook_events_finished ON public.webhook_events (processed_at) WHERE status IN ('done', 'ignored');
CREATE INDEX webhook_events_failed ON public.webhook_events (id) WHERE status = 'failed';
CREATE INDEX webhook_events_ignored ON public.webhook_events (event_type) WHERE status = 'ignored';
CREATE INDEX webhook_events_previous ON public.webhook_events (id) WHERE signed_with = 'previous';

-- What was tried for an event, and how it went. attempt begins anew when an
-- operator has a failed event tried again.
CREATE TABLE public.webhook_attempts (
    id         bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id   bigint           NOT NULL REFERENCES public.webhook_events (id) ON DELETE CASCADE,
    attempt    integer          NOT NULL,
    started_at timestamptz      NOT NULL,
    seconds    double precision NOT NULL,
    error      text
);
CREATE INDEX webhook_attempts_event ON public.webhook_attempts (event_id, id);
