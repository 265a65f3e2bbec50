"""How long a scrape of a large fleet takes, and how many series it has."""
