"""Gangs of pods: which pods say that they start together, and what they are as one job."""
