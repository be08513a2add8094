DROP TABLE public.job_schedules;
DROP TABLE public.river_migration;
DROP TABLE public.river_notification;
DROP TABLE public.river_queue;
DROP TABLE public.river_leader;
DROP TABLE public.river_job;
DROP FUNCTION public.river_job_state_in_bitmask(bit, public.river_job_state);
DROP TYPE public.river_job_state;
