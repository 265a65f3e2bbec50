"""NATS and Valkey as a process comes to them: with which credential, and to which streams."""
