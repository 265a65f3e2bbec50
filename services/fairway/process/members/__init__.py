"""Who is a member while a process runs: from a folder of kubeconfigs, from Secrets in the hub, and in pull mode."""
