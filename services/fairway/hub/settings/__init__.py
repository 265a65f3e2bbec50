"""What the hub sets for the fleet: policies, quota trees, queues, classes, profiles, and labels of namespaces."""
