"""agent: what does this cluster have, and who uses it?

Owns: the view of one cluster's nodes and pods. Hears: its Kubernetes API, and requests for a full report.
Says: cluster reports, a full one first, then what changed, then that nothing did. Never: writes to the cluster, or
reports what it cannot see: an agent that has lost its API is silent.
"""

from fairway.agent.observe import SHAPES
from fairway.agent.service import Agent
from fairway.agent.settings import AgentSettings

__all__ = ["SHAPES", "Agent", "AgentSettings"]
