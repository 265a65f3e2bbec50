"""Idle resources of a simulated fleet: what nodes list of them, who takes them away, and the jobs that run there."""
