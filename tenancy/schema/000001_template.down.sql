DROP TABLE public.webhook_attempts;
DROP TABLE public.webhook_events;
DROP TABLE public.sessions;
DROP TABLE public.tenants;
