"""operators: the real programs that run jobs in a member: which flags, files, certificates and objects each needs.

Owns: one file per project, saying as a value what to install and start; and `start`, which does it. What needs a
container (Spark's driver, Ray's dashboard) is played by stand-ins. Never: the definitions of kinds (crds.py).
"""

from fairway.lab.kubereal.operators.start import OPERATORS, start

__all__ = ["OPERATORS", "start"]
