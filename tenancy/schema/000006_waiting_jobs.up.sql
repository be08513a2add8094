-- A job is put behind those of other tenants where its own tenant has many that
-- are due before it: they are counted by this index.
CREATE INDEX waiting_jobs ON public.river_job ((metadata->>'tenant'), scheduled_at) WHERE finalized_at IS NULL;
