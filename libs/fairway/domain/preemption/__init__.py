"""Whose room is it: levels, who may evict whom, and what a claim keeps for its job. Pure."""
