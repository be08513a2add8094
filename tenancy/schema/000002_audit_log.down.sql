DROP TABLE public.audit_log;
