"""The fleet's settings as objects of the hub: policies, queues, quota trees, tenant profiles."""
