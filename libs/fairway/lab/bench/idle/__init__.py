"""A day of idle resources: Spark jobs on what online pods leave over, in one fleet, with a queue for each cluster, and
without any."""
