"""Whatever stands anywhere in a manifest: it is refused with reasons or read, and never lets its reader fall."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairway.domain.tenancy import LEVELS, Tenancy
from fairway.wire.reasons import Refused
from fairway.workloads import registry
from fairway.workloads.render import member_copy
from hostile_pods import SITES

ODD = st.sampled_from(
    [None, True, 0, -1, 2.5, "", "x", "{{x}}", [], [[]], [None], {}, {"x": {}}, [{"name": []}], "é" * 9]
)
FIELDS = (
    "securityContext", "volumes", "containers", "initContainers", "tolerations", "serviceAccountName", "schedulerName",
    "nodeName", "hostNetwork", "sidecars", "podSpecPatch", "hooks", "executor", "artifactGC", "plugins", "sparkConf",
    "template", "annotations", "capabilities", "seccompProfile", "env", "ports", "metadata", "priorityClassName",
    "runtimeClassName", "automountServiceAccountToken", "resource", "inline", "templateRef", "steps", "dag", "plugin",
    "templateDefaults", "inputs", "arguments", "secrets", "podMetadata", "sysctls", "projected", "livenessProbe",
)  # fmt: skip


def holders(value: Any) -> list[dict[str, Any]]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return ([value] if isinstance(value, dict) else []) + [one for each in inner for one in holders(each)]


@pytest.mark.parametrize("site", SITES, ids=lambda site: f"{site.kind} {site.role}")
@settings(deadline=None)
@given(data=st.data())
def test_an_odd_value_anywhere_is_read_or_refused(site: Any, data: st.DataObject) -> None:
    made = deepcopy(site.job())
    for _ in range(data.draw(st.integers(1, 3))):
        holder = data.draw(st.sampled_from(holders(made["spec"]) or [made]))
        key = data.draw(st.sampled_from((*FIELDS, *holder)))
        holder[key] = deepcopy(data.draw(ODD))
    level = data.draw(st.sampled_from(LEVELS))
    try:
        work = registry.read(made, may=lambda namespace: Tenancy(namespace, level))
    except Refused as error:
        assert error.reasons and all(one.text and one.remedy for one in error.reasons)
        return
    assert member_copy(made, "j", 1)["metadata"]["name"] == work.name
