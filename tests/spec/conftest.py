"""Here so that the builders beside it (lives.py) can be imported from every folder below."""
