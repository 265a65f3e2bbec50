"""Decisions decided again, on what they were made on: the same views and the same `decide`."""
