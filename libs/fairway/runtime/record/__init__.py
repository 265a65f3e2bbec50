"""What of the record counts, the working set made from it, and messages that could not be handled or said."""
