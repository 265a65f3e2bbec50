"""AppWrapper: objects of other kinds that start, are retried and end together."""
