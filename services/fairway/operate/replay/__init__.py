"""`fairway replay decisions`."""
