"""Servers and services as child processes that end with their parent."""
