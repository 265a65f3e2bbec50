"""What is told at a scrape."""
