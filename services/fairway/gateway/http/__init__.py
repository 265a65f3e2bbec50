"""The HTTP door: routes, request bodies, answers."""
