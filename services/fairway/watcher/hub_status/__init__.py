"""The status of the hub's objects: what members show of them, and what the record calls an end."""
