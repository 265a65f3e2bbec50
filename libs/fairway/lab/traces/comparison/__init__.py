"""Fairway beside other policies on the same trace: figures, fairness, a table and a picture.

Owns: what is counted of a policy's runs, the same for every policy. Never: runs a policy, or rounds before it compares.
"""
