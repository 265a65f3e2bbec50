"""The benchmark of what recording costs: the recorder's own processor time, whatever else the machine does."""
