"""Agreement of placement with real schedulers, on random cases: docs/concepts.md says what it means."""
