"""Faults make their alert fire, and the commands of its page name the cause."""
