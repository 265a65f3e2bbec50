"""The order of the pipeline: the services that a job passes, in turn."""

STAGES = ("admission", "quota", "queue", "global-scheduler", "reserver", "propagator", "watcher")
DOORS = ("gateway", "agent")
EVERYTHING = (*DOORS, *STAGES)
# Beside a member in pull mode: its agent, and the hands and eyes of the others.
MEMBER = "member"
