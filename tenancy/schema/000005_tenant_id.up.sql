-- A slug may be given again once its tenant is purged; the id is another then. A
-- session's request or a job that still goes on for the first one finds by it that
-- its tenant is gone.
CREATE SEQUENCE public.tenants_id_seq;
ALTER TABLE public.tenants ADD COLUMN id bigint NOT NULL DEFAULT nextval('public.tenants_id_seq');
ALTER SEQUENCE public.tenants_id_seq OWNED BY public.tenants.id;
