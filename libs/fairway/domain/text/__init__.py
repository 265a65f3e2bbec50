"""Texts of others, read without trust."""
