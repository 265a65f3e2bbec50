"""quota: whose share is it, and could it ever be enough?

Owns: the reading of the ElasticQuotaTree for a job. Hears: admitted. Says: queue, or rejected.
Never: lets a job in that no change of usage could ever let run. What is charged is given back in the very commit
that ends or returns a job (domain/tell.py), so that usage is at every moment the sum of the charged jobs.
"""
