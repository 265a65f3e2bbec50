"""The benchmark of one agent beside a large cluster."""
