"""Adapters: the ports of `fairway.runtime` on real things (NATS, Valkey, Kubernetes, the system's clock).

Owns every client, socket, clock and child process. Never decides: what to do comes from `decide`, as a value.
Beside each adapter lies its in-memory twin, and both pass the same contract tests.
"""
