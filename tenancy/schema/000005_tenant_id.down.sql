ALTER TABLE public.tenants DROP COLUMN id;
