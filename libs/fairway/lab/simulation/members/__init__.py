"""Member clusters of a simulated fleet, and what happens in them."""
