"""Here so that the builders beside it (hub.py) can be imported."""
