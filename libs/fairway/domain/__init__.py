"""Values and rules that every service shares: jobs and their states, resources, quota, decisions.

Owns: what is true of a job whatever stage holds it. Never: waits, reads a clock, or talks to anything.
"""
