"""What every benchmark measures with: figures of processes, journeys of messages, and the outcome."""
