"""The benchmark on real Kubernetes."""
