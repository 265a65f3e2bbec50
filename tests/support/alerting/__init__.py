"""Alert rules as tests read them: their expressions, their pages with commands in them, and Prometheus' own verdict."""
