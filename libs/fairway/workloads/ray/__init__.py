"""RayJob, and the cluster that it describes."""
