"""callers: who asks over HTTP, and what they may.

Owns: authentication, authorisation, the limits of one caller. Hears: bearer tokens, the hub's answers to reviews. Says:
401, 403, 429 and 503. Never: uses Fairway's own rights on the hub in place of the caller's.
"""
