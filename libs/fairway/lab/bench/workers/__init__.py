"""Several instances of every stage: how the work is shared, and what becomes of jobs while instances come and go."""
