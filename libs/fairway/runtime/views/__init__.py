"""What services remember between decisions: rows of the store, settings of the fleet, members."""
