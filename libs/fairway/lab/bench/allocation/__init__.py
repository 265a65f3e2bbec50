"""How much of the GPUs is allocated when pods come and do not end, by Fairway and by two simpler policies."""
