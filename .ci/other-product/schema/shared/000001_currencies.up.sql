CREATE TABLE public.currencies (
    code text PRIMARY KEY
);
INSERT INTO public.currencies (code) VALUES ('EUR'), ('GBP');
