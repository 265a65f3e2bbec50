"""What is taken from elsewhere, asked of servers that answer as those elsewhere do."""
