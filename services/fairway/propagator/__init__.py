"""propagator: puts a job into its cluster, and takes it out again.

Owns: the job's object in the member cluster, what goes along with it, and what holds its room there. Hears: reserved,
adjust, recall. Says: dispatched, amended or unchanged, removed, or lost when the cluster refuses or has no room. Never:
touches an object that is not ours, says what a Secret holds, or says removed before the pods are gone.
"""
