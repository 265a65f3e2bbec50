"""What the door counts of its requests and callers."""
