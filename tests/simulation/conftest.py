"""Here so that what is beside it can be imported."""
