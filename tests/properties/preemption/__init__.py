"""Who may evict whom."""
