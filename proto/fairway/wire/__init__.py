"""The wire: what may be said, to whom, and why.

Owns: every message, subject, stream and reason. Never: does anything; these are frozen values.
"""
