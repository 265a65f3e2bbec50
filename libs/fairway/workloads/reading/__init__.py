"""Manifests of others, parsed and read field by field."""
