"""What a pod may say only where a TenantProfile allows everything: what lies elsewhere or is said where no pod template
stands, so that Fairway would not see it, and privileges in unusual places."""

from tests.cases.good_jobs import batch_job, kubeflow, ray_job, volcano_job, workflow
from tests.cases.pod_flaws import Json
from tests.cases.rule_builders import UNSAFE, but, steps, with_volume


def _elsewhere() -> Json:
    made = but(workflow(), "spec.workflowTemplateRef.name", "theirs")
    made["metadata"]["annotations"] = {"kube-queue/min-resources": "cpu: 1"}
    return made


_POD = "spec.template.spec"
_ONE = "spec.templates.0"
_AUTOSCALER = "spec.rayClusterSpec.autoscalerOptions.securityContext.privileged"
_REF = {"name": "s", "templateRef": {"name": "theirs", "template": "t"}}
_PRIVILEGED = {"securityContext": {"privileged": True}}
_INLINE = {"name": "i", "inline": {"container": {"image": "x", **_PRIVILEGED}}}

UNSEEN = (
    UNSAFE.on("a workflow that lies elsewhere", _elsewhere(), "spec.workflowTemplateRef", "lies in a cluster"),
    UNSAFE.on(
        "a template that lies elsewhere",
        steps({"name": "s", "steps": [[_REF]]}),
        "spec.templates[1].steps[0][0].templateRef",
        "lies in a cluster",
    ),
    UNSAFE.on(
        "a template elsewhere in a DAG",
        steps({"name": "d", "dag": {"tasks": [_REF]}}),
        "spec.templates[1].dag.tasks[0].templateRef",
        "lies in a cluster",
    ),
    UNSAFE.on(
        "a template elsewhere as a hook",
        but(workflow(), "spec.hooks.exit", _REF),
        "spec.hooks.exit.templateRef",
        "lies in a cluster",
    ),
    UNSAFE.at("a patch of the pod", workflow(), "spec.podSpecPatch", "hostPID: true", "patches hostPID"),
    UNSAFE.at("a patch in another case", workflow(), "spec.podSpecPatch", '{"HOSTPID": true}', "patches HOSTPID"),
    UNSAFE.at(
        "a patch of a container",
        workflow(),
        f"{_ONE}.podSpecPatch",
        "containers: [{name: main, securityContext: {privileged: true}}]",
        "patches containers.securityContext",
    ),
    UNSAFE.at(
        "a patch that is filled in later",
        workflow(),
        f"{_ONE}.podSpecPatch",
        "containers: [{name: main, resources: {{workflow.parameters.size}}}]",
        "only at run time",
    ),
    UNSAFE.at(
        "a patch of who removes artifacts",
        workflow(),
        "spec.artifactGC.podSpecPatch",
        "hostPID: true",
        "patches hostPID",
    ),
    UNSAFE.on(
        "an annotation that is named later",
        but(workflow(), "spec.podMetadata.annotations", {"a{{workflow.name}}": "x"}),
        "spec.podMetadata.annotations['a{{workflow.name}}']",
        "only at run time",
    ),
    UNSAFE.by_conf(
        "a file as the driver's template", "spark.kubernetes.driver.podTemplateFile", "/t.yaml", "cannot look at"
    ),
    UNSAFE.by_conf("another namespace by sparkConf", "spark.kubernetes.namespace", "kube-system", "cannot look at"),
    UNSAFE.by_conf(
        "a file of the operator by sparkConf", "spark.kubernetes.kerberos.krb5.path", "/token", "cannot look at"
    ),
    UNSAFE.by_conf(
        "another API server by sparkConf", "spark.master", "k8s://https://a", "says where the driver is made"
    ),
    UNSAFE.by_conf(
        "a path of the node by sparkConf",
        "spark.kubernetes.executor.volumes.hostPath.d.mount.path",
        "/d",
        "mounts a path of the node",
    ),
    UNSAFE.at("a plugin of Volcano", volcano_job(), "spec.plugins.theirs", [], "'theirs' is a plugin"),
)
ALSO = (
    UNSAFE.on(
        "hostPath in a script",
        with_volume(workflow("script"), "spec.volumes", {"hostPath": {"path": "/"}}),
        "spec.volumes[0].hostPath",
        "mounts a path of the node",
    ),
    UNSAFE.on(
        "privileges in a template written inside a step",
        steps({"name": "s", "steps": [[_INLINE]]}),
        "spec.templates[1].steps[0][0].inline.container.securityContext.privileged",
        "root of its node",
    ),
    UNSAFE.at(
        "privileges as a default of templates",
        workflow(),
        "spec.templateDefaults.container.securityContext.privileged",
        True,
        "root of its node",
    ),
    UNSAFE.at(
        "privileges of Ray's autoscaler",
        but(ray_job(), "spec.rayClusterSpec.enableInTreeAutoscaling", True),
        _AUTOSCALER,
        True,
        "root of its node",
    ),
    UNSAFE.on(
        "privileges of a role of no pods",
        but(
            kubeflow("PyTorchJob", "pytorch", "Master", "Worker")(),
            "spec.pytorchReplicaSpecs.Worker",
            {"replicas": 0, "template": {"spec": {"hostIPC": True, "containers": [{}]}}},
        ),
        "spec.pytorchReplicaSpecs.Worker.template.spec.hostIPC",
        "a namespace of the node",
    ),
    UNSAFE.on(
        "a container that is added later",
        but(batch_job(), f"{_POD}.ephemeralContainers", [{"name": "e", **_PRIVILEGED}]),
        f"{_POD}.ephemeralContainers[0].securityContext.privileged",
        "root of its node",
    ),
)
