"""RayJob and RayCluster, and the cluster that both of them describe."""
