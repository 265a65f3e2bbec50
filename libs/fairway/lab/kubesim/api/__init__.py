"""The API of a simulated cluster in memory: objects, versions, validation, patches, garbage collection."""
