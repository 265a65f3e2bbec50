"""The cluster port on a real Kubernetes API."""
