"""global-scheduler: chooses the cluster.

Owns: the choice, with every cluster's verdict. Hears: dequeued. Says: placed, or queue with what is lacking.
Never: writes capacity, waits for room, or looks at a cluster that was silent too long.
"""
