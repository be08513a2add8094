DROP TABLE public.currencies;
