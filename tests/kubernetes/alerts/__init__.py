"""Alert rules under series, as Prometheus evaluates them."""
