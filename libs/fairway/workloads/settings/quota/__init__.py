"""What the nodes of a quota tree say beside their numbers."""
