"""`bench evict`: whom to evict for a gang, over a large fleet; and how many more go than would have to, over small
ones."""
