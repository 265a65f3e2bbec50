"""Attempts that end for a claim, and the room that is kept for it."""
