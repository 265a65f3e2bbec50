"""Waiting jobs that claim room which others have."""
