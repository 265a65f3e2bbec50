"""Policies to compare with, as pure functions over a trace: the same jobs on the same nodes, by other rules.

Owns: who goes next (FIFO, shortest first, a share of the nodes for each tenant), on a clock of events.
Never: waits, reads a clock, or places a gang otherwise than Fairway does.
"""
