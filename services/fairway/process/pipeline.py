"""The order of the pipeline: the services that a job passes, in turn, and the doors before them."""

STAGES = ("admission", "quota", "queue", "global-scheduler", "reserver", "propagator", "watcher")
# A door, and on the one loop as the stages.
INBOUND = "inbound"
LOOPS = (INBOUND, *STAGES)
DOORS = ("gateway", INBOUND, "agent")
EVERYTHING = (*DOORS, *STAGES)
# Beside a member in pull mode: its agent, and the hands and eyes of the others.
MEMBER = "member"
