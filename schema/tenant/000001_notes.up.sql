CREATE TABLE notes (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title      text        NOT NULL CHECK (title <> '' AND char_length(title) <= 200),
    created_by text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
