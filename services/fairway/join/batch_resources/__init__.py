"""What a member with Koordinator is given at the join, so that its pods on batch resources give way to all others."""
