"""The hub of a simulated fleet: its API, how processes reach it, and what its people wanted of it."""
