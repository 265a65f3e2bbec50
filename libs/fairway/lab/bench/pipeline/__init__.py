"""The benchmarks of the whole pipeline: its rate, its clusters, and a store that is lost."""
