"""Which cluster can take a job, node by node, and which should: one fit for scheduler and reserver.

Owns: the engine that keeps a fleet in arrays, the fit, the filters with a reason for every cluster, the scores.
Hears: clusters and nodes as the capacity cache keeps them, a workload, a placement; time is an argument.
Says: a plan (how many pods of which set on which node), or what is missing in numbers.
Never: says yes to a gang that does not fit; keeps a clock, a connection or a task.
"""
