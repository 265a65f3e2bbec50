"""What must always hold in a simulated fleet, looked at from outside."""
