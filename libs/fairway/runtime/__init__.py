"""Ports, and the one loop that runs every service: load the view, decide, commit, publish, acknowledge.

Owns: how a decision becomes true. Never: decides, or knows which bus or store is behind a port.
"""
