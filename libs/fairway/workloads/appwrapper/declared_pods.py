"""What a component's `podSets` say: where AppWrapper 1.2 finds its pod templates, and how many pods it waits for.

Of some kinds it finds them by itself (pkg/utils InferPodSets). Of any other it counts no pods but those declared, and
would call the job succeeded while the others run.
"""

from fairway.workloads.appwrapper.components import Component
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.pods import MOST_POD_SETS, read_replicas

_KNOWN = frozenset(
    (
        *("Pod.v1", "Job.batch/v1", "JobSet.jobset.x-k8s.io/v1alpha2", "PyTorchJob.kubeflow.org/v1"),
        *("Deployment.apps/v1", "StatefulSet.apps/v1", "RayCluster.ray.io/v1", "RayJob.ray.io/v1"),
    )
)


def check(component: Component, pods: int) -> None:
    """`pods` is how many the component makes."""
    declared = component.entry["podSets"]
    if not declared.value and component.kind.key in _KNOWN:
        return
    templates = [
        _path(pod.template, component.template)
        for pod in component.kind.pod_templates(component.template)
        if pod.template
    ]
    found: list[str] = []
    replicas = 0
    for entry in declared.items(MOST_POD_SETS):
        path = entry["path"].text()
        if path not in templates or path in found:
            entry["path"].wrong(
                "is no pod template of the component, or is named twice", f"use {' and '.join(templates)}"
            )
        found.append(path)
        replicas += read_replicas(entry["replicas"])
    missing = [path for path in templates if path not in found]
    if missing and component.kind.key not in _KNOWN:
        text = f"does not name {missing[0]}, and AppWrapper would not wait for its pods"
        declared.wrong(text, "declare each pod template with its path and its replicas")
    elif replicas > pods:
        text = f"declares {replicas} pods, and the component makes {pods}: AppWrapper would wait for the others"
        declared.wrong(text, f"declare {pods}")


def _path(spec: Field, template: Field) -> str:
    """As AppWrapper writes the way from the component's template to a pod template, of which this is the spec."""
    way = spec.way[len(template.way) : -1]
    return "template" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in way)
