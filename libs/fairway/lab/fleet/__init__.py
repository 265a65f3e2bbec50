"""A whole fleet on this machine: real NATS and Valkey, clusters, and the services in processes of their own."""
