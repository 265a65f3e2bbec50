"""Doubles in memory: a cluster that plays scripts, who is known to it, and a clock that stands still."""
