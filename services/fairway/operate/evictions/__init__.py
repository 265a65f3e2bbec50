"""`fairway evictions`."""
