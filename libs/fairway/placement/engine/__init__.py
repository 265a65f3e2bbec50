"""A fleet in arrays, kept current between two choices, on which the loops run."""
