"""The API of a simulated cluster over HTTP: paths, watches, who asks, and what kubectl wants to see."""
