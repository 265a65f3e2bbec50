"""Metrics in Prometheus' words: base units, plural units, no job id in a label, and no text of a tenant's."""

from fairway.runtime.metrics.meter import Meter

__all__ = ["Meter"]
