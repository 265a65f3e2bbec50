"""Whose share it is: guaranteed, lent, or next by weight."""
