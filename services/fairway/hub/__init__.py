"""hub: the objects of the cluster where tenants apply their jobs.

Owns: what those objects show (status, Events, ResourceBindings, conditions), and which of them are held. Hears: the
hub, events of jobs, what members show. Says: submitted, revise, hold, cancel, configured.
Never: decides where or when a job runs, or takes what Fairway itself wrote for its owner's wish.
"""
