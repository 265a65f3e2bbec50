"""proto/ says what the code says: schemas, channels, who speaks and who listens."""

import json
import re
from typing import Any

import jsonschema
import pytest
import yaml

from fairway.lab.documents.message_senders import made_by
from fairway.lab.documents.schemas import messages, pages
from fairway.wire import fleet, flow, jobs, subjects
from tests.contract.wire.examples import EXAMPLES, bytes_of
from tests.paths import ROOT

PROTO = ROOT / "proto"
PAGES = dict(pages(PROTO))
ASYNCAPI: dict[str, Any] = yaml.safe_load(PAGES["asyncapi.yaml"])


@pytest.mark.parametrize("path", PAGES)
def test_the_page_is_what_the_code_says(path: str) -> None:
    there = (PROTO / path).read_text("utf-8") if (PROTO / path).exists() else ""
    assert there == PAGES[path], f"proto/{path} is out of date; write it anew with: make schemas"


def test_no_schema_of_a_message_that_is_no_more_lies_about() -> None:
    assert {f"schema/v1/{path.name}" for path in (PROTO / "schema/v1").iterdir()} == {p for p in PAGES if "/" in p}


@pytest.mark.parametrize("name", messages())
def test_the_golden_example_keeps_its_schema(name: str) -> None:
    schema = json.loads(PAGES[f"schema/v1/{name}.json"])
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(bytes_of(EXAMPLES[name])), schema, jsonschema.Draft202012Validator)


def test_a_schema_refuses_a_message_without_its_tenant() -> None:
    schema = json.loads(PAGES["schema/v1/placed.json"])
    message = json.loads(bytes_of(EXAMPLES["placed"]))
    del message["tenant"]
    with pytest.raises(jsonschema.ValidationError, match="tenant"):
        jsonschema.validate(message, schema)


def test_every_reference_leads_somewhere() -> None:
    for ref in re.findall(r"\$ref: '?([^'\s]+)", PAGES["asyncapi.yaml"]):
        file, _, pointer = ref.partition("#/")
        assert not file or (PROTO / file).exists()
        found: Any = ASYNCAPI
        for key in filter(None, pointer.split("/")):
            found = found[key]
        assert found


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        pytest.param("placed", subjects.job(jobs.Placed.verb, "team-a"), id="an event of a job"),
        pytest.param("report", subjects.cluster(fleet.Report.verb, "north"), id="a report"),
        pytest.param("configured", subjects.config("Queue", "", "gold"), id="a setting"),
        pytest.param("dead_letter", subjects.dead_letter("queue"), id="a dead letter"),
        pytest.param("resync", subjects.resync("north"), id="the question for a full report"),
    ],
)
def test_the_address_of_a_channel_is_the_subject_that_is_used(name: str, subject: str) -> None:
    pattern = re.sub(r"\{\w+\}", r"[^.]+", ASYNCAPI["channels"][name]["address"])
    assert re.fullmatch(pattern, subject)


SERVICES = [*flow.LOOPS, "agent", "gateway"]


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_says_what_the_page_says_it_does(service: str) -> None:
    made = set().union(*made_by(ROOT, service).values())
    said = {row.name for row in flow.FLOW if row.message is not None and service in row.says}
    # Every stage's loop rebuilds the store and buries what it cannot handle; the queue's answer is made by its process.
    by_loops = {"dead_letter", "queue_place", "rebuild"}
    assert made - by_loops == said - by_loops
