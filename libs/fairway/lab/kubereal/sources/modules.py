"""What is built: one Go module for each project, pinned by the go.mod and go.sum in its folder of `modules/`."""

from pathlib import Path

from msgspec import Struct

FOLDER = Path(__file__).parent / "modules"
_KUBERNETES = "1.34.4"


class Module(Struct, frozen=True):
    """`programs`: name of the program → its package. `links`: further names that a program answers to. `crds`: where in
    the sources of `source` the definitions of its kinds lie, as glob patterns. `tags` leave out what is not needed."""

    name: str
    programs: dict[str, str]
    links: tuple[str, ...] = ()
    source: str = ""
    crds: tuple[str, ...] = ()
    flags: str = "-s -w"
    tags: tuple[str, ...] = ()


def _kubernetes() -> Module:
    base = "k8s.io/component-base/version"
    major, minor, _ = _KUBERNETES.split(".")
    said = f"-X {base}.gitVersion=v{_KUBERNETES} -X {base}.gitMajor={major} -X {base}.gitMinor={minor}"
    names = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
    return Module("kube", {"kube": "."}, names, flags=f"-s -w {said}")


_TRAINING = "github.com/kubeflow/training-operator"
_VOLCANO = "volcano.sh/volcano"
_KOORDINATOR = "github.com/koordinator-sh/koordinator"
_SPARK = "github.com/kubeflow/spark-operator/v2"
_ARGO = "github.com/argoproj/argo-workflows/v3"
_JOBSET = "sigs.k8s.io/jobset"
_TRAINER = "github.com/kubeflow/trainer/v2"
_LWS = "sigs.k8s.io/lws"
_APPWRAPPER = "github.com/project-codeflare/appwrapper"
_RAY = "github.com/ray-project/kuberay/ray-operator"
_PROMETHEUS = "github.com/prometheus/prometheus"

MODULES = {
    one.name: one
    for one in (
        _kubernetes(),
        Module("kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}),
        Module(
            "training",
            {"training-operator": f"{_TRAINING}/cmd/training-operator.v1"},
            source=_TRAINING,
            crds=("manifests/base/crds/kubeflow.org_*.yaml",),
        ),
        # A later training-operator, for the one kind that it has more: see operators/training.py.
        Module(
            "jax",
            {"jax-operator": f"{_TRAINING}/cmd/training-operator.v1"},
            source=_TRAINING,
            crds=("manifests/base/crds/kubeflow.org_jaxjobs.yaml",),
        ),
        Module(
            "volcano",
            {
                "volcano-controller-manager": f"{_VOLCANO}/cmd/controller-manager",
                "volcano-scheduler": f"{_VOLCANO}/cmd/scheduler",
                "volcano-webhook-manager": f"{_VOLCANO}/cmd/webhook-manager",
            },
            source=_VOLCANO,
            crds=("config/crd/volcano/bases/*.yaml",),
        ),
        Module(
            "koordinator",
            {
                "koord-manager": f"{_KOORDINATOR}/cmd/koord-manager",
                "koord-scheduler": f"{_KOORDINATOR}/cmd/koord-scheduler",
            },
            source=_KOORDINATOR,
            crds=("config/crd/bases/*.yaml",),
        ),
        Module("spark", {"spark-operator": f"{_SPARK}/cmd/operator"}, source=_SPARK, crds=("config/crd/bases/*.yaml",)),
        Module(
            "argo",
            {"argo-workflow-controller": f"{_ARGO}/cmd/workflow-controller"},
            source=_ARGO,
            crds=("manifests/base/crds/minimal/argoproj.io_*.yaml",),
        ),
        Module(
            "jobset",
            {"jobset-manager": _JOBSET},
            source=_JOBSET,
            crds=("config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml",),
        ),
        Module(
            "trainer",
            {"trainer-controller-manager": f"{_TRAINER}/cmd/trainer-controller-manager"},
            source=_TRAINER,
            crds=("manifests/base/crds/trainer.kubeflow.org_*.yaml",),
        ),
        Module(
            "appwrapper",
            {"appwrapper-manager": f"{_APPWRAPPER}/cmd"},
            source=_APPWRAPPER,
            crds=("config/crd/bases/workload.codeflare.dev_appwrappers.yaml",),
        ),
        Module("lws", {"lws-manager": f"{_LWS}/cmd"}, source=_LWS, crds=("config/crd/bases/*.yaml",)),
        Module(
            "ray",
            {"ray-operator": _RAY},
            source=_RAY,
            crds=(
                "config/crd/bases/ray.io_rayclusters.yaml",
                "config/crd/bases/ray.io_rayjobs.yaml",
                "config/crd/bases/ray.io_rayservices.yaml",
            ),
        ),
        # What judges metrics and alert rules; it asks no cloud for what to scrape.
        Module("prometheus", {"promtool": f"{_PROMETHEUS}/cmd/promtool"}, tags=("remove_all_sd",)),
    )
}
