"""What the hub's objects are told of their jobs: what, and when."""
