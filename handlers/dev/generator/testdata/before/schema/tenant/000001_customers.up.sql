CREATE TABLE customers (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text   NOT NULL CHECK (name <> '' AND char_length(name) <= 200)
);
