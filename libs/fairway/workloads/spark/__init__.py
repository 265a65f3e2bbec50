"""SparkApplication."""
