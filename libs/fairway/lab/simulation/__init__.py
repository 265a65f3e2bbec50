"""The fleet on a virtual clock: the services as they are, over ports that fail by a seed, before a witness."""
