"""The cluster port over the bus, for members in pull mode."""
