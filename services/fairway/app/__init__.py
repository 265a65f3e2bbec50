"""The application: the command line, the order of the services, and the one place that chooses adapters.

Owns: which adapter stands behind a port, and what runs in a process. Never: decides anything about a job.
"""
