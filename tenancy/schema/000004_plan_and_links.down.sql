ALTER TABLE public.tenants
    DROP COLUMN plan_as_of,
    DROP COLUMN link_key;
