-- plan_as_of is when plan_type was heard of: what was heard earlier does not
-- replace it. link_key signs the tenant's public links; two random UUIDs have
-- 244 random bits, and PostgreSQL's core has no other source of them.
ALTER TABLE public.tenants
    ADD COLUMN plan_as_of timestamptz,
    ADD COLUMN link_key   bytea NOT NULL DEFAULT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));
UPDATE public.tenants SET plan_as_of = last_sign_in_at;
