"""The quota tree, what a job is charged in it, and who holds which share."""
