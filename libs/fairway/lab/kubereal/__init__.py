"""kubereal: real Kubernetes on this machine, without containers: API servers, schedulers, operators, kwok's kubelets.

Owns: building the programs from pinned Go modules, and running clusters of them as child processes.
Serves: `fairway up --real` and tests/kubernetes. Never: part of a fleet in production, which has clusters of its own.
"""
