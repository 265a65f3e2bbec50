"""`fairway rebuild`."""
