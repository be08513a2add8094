CREATE TABLE order_lines (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sku         text        NOT NULL UNIQUE CHECK (sku <> '' AND char_length(sku) <= 200),
    remark      text        NOT NULL CHECK (char_length(remark) <= 10000),
    quantity    bigint      NOT NULL,
    price       numeric     NOT NULL,
    shipped     boolean     NOT NULL,
    due_date    date        NOT NULL,
    ordered_at  timestamptz NOT NULL,
    product_id  uuid        NOT NULL,
    label       text        NOT NULL CHECK (char_length(label) <= 200),
    discount    numeric,
    batch       bigint      UNIQUE,
    best_before date,
    seen_at     timestamptz,
    supplier_id uuid,
    story       text        NOT NULL CHECK (story <> '' AND char_length(story) <= 10000),
    customer_id bigint      NOT NULL REFERENCES customers (id),
    agent_id    bigint      REFERENCES customers (id),
    created_by  text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON order_lines (customer_id);
CREATE INDEX ON order_lines (agent_id);
