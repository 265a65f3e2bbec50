"""What callers of the HTTP door did, and were refused, for the audit."""
