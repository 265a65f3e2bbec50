"""The reader of what most jobs are: a manifest of a usual kind, decoded straight into structs of what is read of it.

It takes a manifest that says nothing else and has nothing wrong, and says of it what `kinds.registry.read` says. Of
any other it says nothing (None): that is for `read` to read, or to refuse in its own words.
"""
