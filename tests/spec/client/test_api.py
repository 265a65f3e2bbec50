"""Which job a person means, where the fleet is, how long to wait."""

from pathlib import Path
from typing import Any

import pytest

from fairway.cli.submission import duration
from fairway.client import api
from fairway.client.api import meant, place
from fairway.client.failure import ERROR, NOT_FOUND, UNREACHABLE, USAGE, Failure


def row(id: str, name: str, state: str = "running", at: int = 1, namespace: str = "a") -> dict[str, Any]:
    return {"id": id, "name": name, "namespace": namespace, "state": state, "submitted_at": at}


ROWS = [
    row("llm-1", "llm", "failed", 1),
    row("llm-2", "llm", "running", 2),
    row("llm-3", "llm", "rejected", 3),
    row("report-1", "report", "succeeded", 1),
    row("report-2", "report", "succeeded", 2),
    row("resnet-1", "resnet"),
    row("etl-1", "etl", namespace="a"),
    row("etl-2", "etl", namespace="b"),
    row("gpt-1", "gpt", "running", 3),
    row("gpt-2", "gpt", "held", 2),
    row("bert-1", "bert", "rejected", 3),
    row("bert-2", "bert", "held", 2),
    {**row("sum-1", "sum"), "kind": "PyTorchJob"},
    {**row("sum-2", "sum", "held"), "kind": "Job"},
    {**row("sum-3", "sum", "failed"), "kind": "Workflow"},
]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("llm-1", "llm-1", id="an id"),
        pytest.param("llm", "llm-2", id="of several lives of a name, the one that has not ended"),
        pytest.param("report", "report-2", id="all have ended: the newest"),
        pytest.param("res", "resnet-1", id="the beginning of a name"),
        pytest.param("llm-", "llm-2", id="the beginning of ids of one name"),
        pytest.param("gpt", "gpt-2", id="a name: the object that the hub holds, not the job that has its name"),
        pytest.param("gpt-1", "gpt-1", id="that job, by its id"),
        pytest.param("bert", "bert-2", id="the object that the hub holds, not the job that was refused before"),
    ],
)
def test_the_job_that_is_meant(text: str, want: str) -> None:
    assert meant(ROWS, text, text) == want


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        pytest.param("re", USAGE, "a/report, a/resnet", id="the beginning of two names"),
        pytest.param("etl", USAGE, "a/etl, b/etl", id="a name in two namespaces"),
        pytest.param("mnist", NOT_FOUND, "no job mnist", id="nothing of that name"),
        pytest.param("sum", USAGE, "a/sum is a Job and a PyTorchJob; write job/sum, or its id", id="two kinds of it"),
    ],
)
def test_a_job_that_cannot_be_told(text: str, code: int, says: str) -> None:
    with pytest.raises(Failure, match=says) as failed:
        meant(ROWS, text, text)
    assert failed.value.code == code


@pytest.mark.parametrize(("text", "want"), [("60s", 60), ("1m30s", 90), ("250ms", 0.25), ("2h", 7200)])
def test_a_duration(text: str, want: float) -> None:
    assert duration(text) == want


@pytest.mark.parametrize("text", ["60", "1 m", "s", "-5s", "1d"])
def test_no_duration(text: str) -> None:
    with pytest.raises(Failure, match="is not a duration"):
        duration(text)


def test_the_address_that_is_given_comes_before_the_environment_and_that_before_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    api.FLEET_FILE.parent.mkdir()
    api.FLEET_FILE.write_text('{"http": "http://127.0.0.1:3"}')
    here = {"FAIRWAY_URL": "http://127.0.0.1:2/"}
    assert [place(*one).url for one in (("http://127.0.0.1:1", here), ("", here), ("", {}))] == [
        f"http://127.0.0.1:{port}" for port in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("content", "given", "code"),
    [
        pytest.param(None, "", UNREACHABLE, id="nobody says where the fleet is"),
        pytest.param("{", "", ERROR, id="the fleet's file is broken"),
        pytest.param(None, "localhost:1", USAGE, id="an address without http"),
    ],
)
def test_no_address(
    content: str | None, given: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        api.FLEET_FILE.parent.mkdir()
        api.FLEET_FILE.write_text(content)
    with pytest.raises(Failure) as failed:
        place(given, {})
    assert failed.value.code == code
