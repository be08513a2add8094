DROP INDEX public.waiting_jobs;
