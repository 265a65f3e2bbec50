"""`fairway dlq`."""
