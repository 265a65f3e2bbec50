"""Every operator by name. The kinds of `MODULE` and of `MODULE-VARIANT` are those of the module."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from fairway.kubereal.operators.argo import argo
from fairway.kubereal.operators.jobset import jobset
from fairway.kubereal.operators.koordinator import koordinator
from fairway.kubereal.operators.ray import ray
from fairway.kubereal.operators.setup import Setup, Site
from fairway.kubereal.operators.spark import spark
from fairway.kubereal.operators.training import training, training_volcano
from fairway.kubereal.operators.volcano import volcano

OPERATORS: Mapping[str, Callable[[Site], Setup]] = MappingProxyType(
    {
        "argo": argo,
        "jobset": jobset,
        "koordinator": koordinator,
        "ray": ray,
        "spark": spark,
        "training": training,
        "training-volcano": training_volcano,
        "volcano": volcano,
    }
)
