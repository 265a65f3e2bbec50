"""Owns what the pods of a job may ask for: the Pod Security Standards of Kubernetes and what a tenant may name besides.
Hears the pods that a kind says it makes and the Tenancy of their namespace. Says one reason for each field that is
refused. Never guesses what an operator does: every kind says that beside its reader.
"""
