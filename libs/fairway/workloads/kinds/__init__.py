"""Job kinds: one small file each, and the registry of all of them."""
