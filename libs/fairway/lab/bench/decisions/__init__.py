"""The benchmark of the scheduler's decision alone."""
