"""The spec of a workflow and that of its template are joined as Argo 3.6 merges them."""

from typing import Any

import pytest

from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.workflow.joined_spec import joined

Json = dict[str, Any]


def join(own: Json, base: Json) -> tuple[Json, list[str]]:
    problems = Problems()
    root = Field({"spec": {"workflowTemplateRef": {"name": "lib"}, **own}}, problems)
    return joined(root["spec"], base), [f"{one.field}: {one.text}" for one in problems.reasons]


@pytest.mark.parametrize(
    ("own", "base", "want"),
    [
        pytest.param(
            {"entrypoint": "a"}, {"entrypoint": "b", "onExit": "c"}, {"entrypoint": "a", "onExit": "c"}, id="own"
        ),
        pytest.param({"podSpecPatch": "x"}, {"podSpecPatch": "y"}, {"podSpecPatch": "x"}, id="patches are texts"),
        pytest.param(
            {"onExit": "", "serviceAccountName": None},
            {"onExit": "c", "serviceAccountName": "d"},
            {"onExit": "c", "serviceAccountName": "d"},
            id="an empty text says nothing",
        ),
        pytest.param(
            {"hostNetwork": False, "parallelism": 0},
            {"hostNetwork": True, "parallelism": 9},
            {"hostNetwork": False, "parallelism": 0},
            id="false and 0 are said through pointers",
        ),
        pytest.param(
            {"nodeSelector": {"a": "1"}},
            {"nodeSelector": {"a": "2", "b": "2"}},
            {"nodeSelector": {"a": "1", "b": "2"}},
            id="mappings by their keys",
        ),
        pytest.param(
            {"workflowMetadata": {"labels": {"a": "1"}}},
            {"workflowMetadata": {"labels": {"b": "2"}}},
            {"workflowMetadata": {"labels": {"a": "1", "b": "2"}}},
            id="metadata of the workflow",
        ),
        pytest.param(
            {"hooks": {"exit": {"template": "a"}}},
            {"hooks": {"exit": {"template": "b", "expression": "x"}, "late": {"template": "c"}}},
            {"hooks": {"exit": {"template": "a"}, "late": {"template": "c"}}},
            id="a hook as a whole",
        ),
        pytest.param(
            {}, {"suspend": True, "workflowTemplateRef": {"name": "other"}}, {}, id="not whether it is suspended"
        ),
        pytest.param({"suspend": True}, {"suspend": False}, {"suspend": True}, id="but its own word"),
        pytest.param(
            {"volumeClaimTemplates": [{"a": 1}]},
            {"volumeClaimTemplates": [{"b": 2}]},
            {"volumeClaimTemplates": [{"a": 1}]},
            id="lists without keys as a whole",
        ),
        pytest.param(
            {"tolerations": []}, {"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "a"}]}, id="no list"
        ),
        pytest.param(
            {"volumes": [{"name": "v", "emptyDir": {}}]},
            {"volumes": [{"name": "v", "configMap": {"name": "c"}}]},
            {"volumes": [{"name": "v", "configMap": {"name": "c"}, "emptyDir": {}}]},
            id="volumes by name",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "nfs": {"readOnly": False}}]},
            {"volumes": [{"name": "v", "nfs": {"readOnly": True}}]},
            {"volumes": [{"name": "v", "nfs": {"readOnly": True}}]},
            id="false is nothing where there is no pointer",
        ),
        pytest.param(
            {"templateDefaults": {"container": {"env": [{"name": "A", "value": "1"}]}}},
            {"templateDefaults": {"container": {"image": "i", "env": [{"name": "A", "value": "2"}, {"name": "B"}]}}},
            {"templateDefaults": {"container": {"image": "i", "env": [{"name": "A", "value": "1"}, {"name": "B"}]}}},
            id="defaults of templates",
        ),
        pytest.param(
            {"arguments": {"parameters": [{"name": "p", "value": ""}]}},
            {"arguments": {"parameters": [{"name": "p", "value": "x", "enum": ["x"]}]}},
            {"arguments": {"parameters": [{"name": "p", "value": "", "enum": ["x"]}]}},
            id="an empty parameter is one",
        ),
        pytest.param(
            {"tolerations": [{"key": "a", "effect": "E"}]},
            {"tolerations": [{"key": "a"}, {"key": "a", "value": "2"}]},
            {"tolerations": [{"key": "a", "effect": "E"}, {"key": "a", "value": "2"}]},
            id="the first of two with one key",
        ),
    ],
)
def test_the_workflow_has_the_last_word(own: Json, base: Json, want: Json) -> None:
    assert join(own, base) == (want, [])


@pytest.mark.parametrize(
    ("own", "base", "want"),
    [("b", "abc", "abc"), ("xb", "abc", "xabc"), ("cx", "abc", "abcx"), ("ca", "abc", "bca"), ("x", "ab", "xab")],
)
def test_lists_come_in_the_order_of_a_strategic_merge(own: str, base: str, want: str) -> None:
    made, _ = join(
        {"arguments": {"parameters": [{"name": one} for one in own]}},
        {"arguments": {"parameters": [{"name": one} for one in base]}},
    )
    assert "".join(one["name"] for one in made["arguments"]["parameters"]) == want


@pytest.mark.parametrize(
    ("own", "base", "told"),
    [
        pytest.param({"templates": [{}]}, {}, "spec.templates: stand beside workflowTemplateRef", id="own templates"),
        pytest.param({"nodeSelector": {"$patch": "replace"}}, {}, "spec: has a field '$patch'", id="a directive"),
        pytest.param(
            {"tolerations": [{}]}, {"tolerations": [{"key": "a"}]}, "spec.tolerations[0]: has no key", id="no key"
        ),
        pytest.param({"volumes": [{"name": "v"}]}, {"volumes": [5]}, "spec.volumes[0]: has no name", id="no entry"),
    ],
)
def test_what_argo_would_not_join_is_refused(own: Json, base: Json, told: str) -> None:
    (why,) = join(own, base)[1]
    assert why.startswith(told)
