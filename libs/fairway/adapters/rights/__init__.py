"""Who may do what on NATS and Valkey, made from the table of the flow."""
