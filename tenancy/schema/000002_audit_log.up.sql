-- Who did what, and to which tenant. It has no foreign key: it outlives a purge.
CREATE TABLE public.audit_log (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL DEFAULT now(),
    actor       text        NOT NULL, -- a user's id, platform, user@host of a command, or server
    action      text        NOT NULL,
    tenant_slug text,
    detail      text        NOT NULL DEFAULT ''
);
CREATE INDEX audit_log_tenant ON public.audit_log (tenant_slug, id);
CREATE INDEX audit_log_at ON public.audit_log USING brin (at); -- in the order of the table
