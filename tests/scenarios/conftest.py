"""Here so that the fleet in memory beside it can be imported."""
