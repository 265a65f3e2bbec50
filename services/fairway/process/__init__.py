"""A process of services: its settings, its wiring (the one place that chooses adapters), its HTTP ports, its life."""
