"""Objects of the hub as values: those that set something for the fleet, and those that are jobs."""
