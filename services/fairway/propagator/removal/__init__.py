"""How an attempt is taken out of its member: told first where it has notice, then deleted."""
