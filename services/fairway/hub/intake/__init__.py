"""Jobs of the hub on their way in, what their owners change, and their deletion."""
