"""`fairway join` and `fairway leave`: a cluster becomes a member with the least rights, and stops being one."""
