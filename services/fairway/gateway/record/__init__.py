"""What the record itself holds, over HTTP: manifests, and dead letters."""
