"""Jobs that make room for others, through the whole line."""
