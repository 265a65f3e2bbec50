"""Traces of real fleets, replayed through the whole system."""
