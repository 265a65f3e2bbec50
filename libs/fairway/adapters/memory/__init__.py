"""The ports in memory: they keep the same promises as the real ones, and pass the same tests."""
