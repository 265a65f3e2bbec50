"""Companions of a job: the ConfigMaps, Secrets, ServiceAccounts and claims that its pods or its policy name, which go
along to the cluster that was chosen. What a manifest names of them, and what they are in a member. Pure."""
