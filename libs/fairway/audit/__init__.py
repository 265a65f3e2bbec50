"""The independent judge of the record: what must always hold, checked from messages alone."""
