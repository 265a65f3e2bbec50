"""An embedded Kubernetes API, for the demo, replays, scale tests and tests of failure.

Owns: clusters in memory that answer as Kubernetes does, with nodes, a scheduler, kubelets and the job
operators. Never: runs a container, keeps anything on disk, or is a place for production work.
"""

from fairway.lab.kubesim.clusters import KubeSim, SimCluster
from fairway.lab.kubesim.nodes import NodeGroup

__all__ = ["KubeSim", "NodeGroup", "SimCluster"]
