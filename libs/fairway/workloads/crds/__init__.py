"""CustomResourceDefinitions of what the hub needs and does not have by itself.

Owns: the schemas of policies, quota tree, queues, tenant profiles and bindings, with the rules by which an API server
refuses at the door what the readers beside this package would refuse, each rule naming the field and the remedy. Says:
plain values; `python -m fairway.cli.crds` writes them to deploy/crds. Never: decides alone. What a schema cannot see
(annotations, labels, another object) the readers refuse, and the gateway says so on the object.
"""

from fairway.workloads.crds import binding, policy, queue, tenant_profile, tree
from fairway.workloads.crds.schema import Json


def definitions() -> dict[str, Json]:
    """Every CustomResourceDefinition by its name, `<plural>.<group>`."""
    others = (tree, queue, tenant_profile, binding)
    found = (*policy.definitions(), *(one.definition() for one in others))
    return {one["metadata"]["name"]: one for one in found}
