"""Schedules of the hub: their runs are made here where no controller of the hub makes them."""
