"""watcher: what became of it?

Owns: the reading of a member's status. Hears: what the member clusters show, dispatched. Says: running, succeeded,
failed, lost; a failed attempt goes back to the queue with the next number; of a hub's job what its status is.
Never: takes silence for failure, or a late word of an old attempt for news.
"""
