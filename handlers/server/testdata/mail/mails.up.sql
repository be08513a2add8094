CREATE TABLE mails (
    id        bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    recipient text        NOT NULL,
    number    text        NOT NULL REFERENCES invoices (number),
    due       timestamptz NOT NULL DEFAULT now(),
    attempts  integer     NOT NULL DEFAULT 0,
    error     text,
    refused   boolean     NOT NULL DEFAULT false
);
