"""Whom to evict so that a gang has room, and quota: the fewest and least of those that may go, node by node, in one
cluster."""
