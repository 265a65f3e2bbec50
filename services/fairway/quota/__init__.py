"""quota: whose share is it, and could it ever be enough?

Owns: the reading of the ElasticQuotaTree for a job. Hears: admitted. Says: queue, or rejected.
Never: lets a job in that no change of usage could ever let run. What is charged is owed from the very commit that
ends or returns a job (domain/events.py), and given back when the queue hears of it (domain/quota/charge.py).
"""
