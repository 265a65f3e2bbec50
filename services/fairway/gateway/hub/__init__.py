"""The door of the hub: its jobs on their way in, and what becomes of them on their way back."""
