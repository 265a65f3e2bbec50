"""Argo Workflow."""
