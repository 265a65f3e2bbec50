"""A running fleet as a command reaches it: HTTP to its gateway, credentials, and what is shown on a terminal."""
