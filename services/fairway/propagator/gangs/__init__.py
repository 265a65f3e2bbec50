"""Gangs of pods in members: several objects of an attempt that start together."""
