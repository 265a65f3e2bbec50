"""`fairway audit verify`."""
