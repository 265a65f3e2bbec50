"""reserver: holds the room.

Owns: the capacity cache and the reservation ledger. Hears: placed, every end, removed, cluster reports.
Says: reserved, freed, or queue when the room is gone. Never: chooses another cluster, or trusts a stale view.
"""
