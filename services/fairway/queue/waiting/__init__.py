"""Who waits, in which order and for what; and the room that was freed."""
