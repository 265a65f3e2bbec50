"""An embedded Kubernetes API, for the demo, replays, scale tests and tests of failure.

Owns: clusters in memory that answer as Kubernetes does, with nodes, a scheduler, kubelets and the job
operators. Never: runs a container, keeps anything on disk, or is a place for production work.
"""

from fairway.kubesim.nodes import NodeGroup
from fairway.kubesim.sim import Cluster, KubeSim

__all__ = ["Cluster", "KubeSim", "NodeGroup"]
