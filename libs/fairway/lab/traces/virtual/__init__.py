"""Traces on a virtual clock: the real services over ports in memory, and members that run what they are given."""
