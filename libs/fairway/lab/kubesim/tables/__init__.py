"""What `kubectl get` prints: columns by JSONPath, ages as people read them."""
