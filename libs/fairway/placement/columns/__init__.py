"""All clusters of a fleet at once, in numpy columns."""
