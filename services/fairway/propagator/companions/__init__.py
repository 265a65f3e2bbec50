"""The companions of a job, which go along to its member: read on the hub, and made there beside the job's object."""
