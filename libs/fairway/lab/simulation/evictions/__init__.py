"""Fleets in which jobs evict others: who has which guaranteed share, who has priority, and when owners want it back."""
