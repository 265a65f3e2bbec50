"""queue: whose turn is it?

Owns: the order of waiting jobs, and the charge that goes with a turn. Hears: queue, reserved, every end, removed,
cancel, hold, revised, freed room, changed settings. Says: dequeued, blocked, amended, unchanged, held, cancelled, lost,
queue, recall.
Never: polls, or lets a job that cannot go stand in the way of one that may.
"""
