"""The benchmarks of many jobs that wait."""
