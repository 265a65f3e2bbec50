"""kwok's configuration for one cluster."""

import yaml

from fairway.lab.kubereal.kwok_stages import stages


def _by_name(cluster: str, run_ms: int) -> dict[str, str]:
    return {one["metadata"]["name"]: str(one) for one in yaml.safe_load_all(stages(cluster, run_ms))}


def test_every_end_of_a_pod_has_a_stage_and_nothing_is_left_to_fill_in() -> None:
    made = _by_name("north", 10_000)
    assert sorted(made) == ["pod-deadline", "pod-delete", "pod-finish", "pod-restart", "pod-run"]
    assert not [name for name, text in made.items() if "@" in text]


def test_a_pod_that_does_not_say_runs_for_the_default_or_for_ever() -> None:
    assert "10000ms" in _by_name("north", 10_000)["pod-finish"]
    assert '"never"' in _by_name("north", 0)["pod-finish"]


def test_annotations_that_name_clusters_are_read_with_this_ones_name() -> None:
    made = _by_name("south", 0)
    assert '== "south"' in made["pod-run"]
    assert '!= "south"' in made["pod-finish"]
