"""docs/architecture.md says of the rooms, and of a job's way through them, what the code says."""

from pathlib import Path

import pytest

from fairway.lab.documents.architecture import PAGE, WAY, diagram, needed, page, steps, without_sizes
from fairway.lab.documents.message_senders import messages_made
from fairway.lab.documents.rooms import Folder, layers, rooms
from tests.tidy.source import ROOT

ROOMS = rooms(ROOT)


def test_the_page_is_what_the_code_says() -> None:
    there = (ROOT / PAGE).read_text("utf-8")
    assert without_sizes(there) == without_sizes(page(ROOT)), f"{PAGE} is out of date; write it anew with: make schemas"


def test_only_the_sizes_of_rooms_may_be_of_some_time_ago() -> None:
    assert without_sizes("| a | b | 3 | 1,200 |\n| `a` | 7 |\n") == "| a | b \n| `a` | 7 |\n"


def test_every_room_has_its_layer() -> None:
    assert {name for layer in layers(ROOT) for name in layer} == set(ROOMS)


def test_every_step_of_the_way_is_said_by_one_who_heard_the_step_before() -> None:
    way, _ = steps()
    assert [row.name for row in way] == list(WAY)
    assert [len(row.says) for row in way] == [3, 1, 1, 1, 1, 1, 1, 1]


def test_whatever_a_service_may_say_of_a_job_stands_in_one_of_the_two_tables() -> None:
    way, turns = steps()
    said = [(row.name, who) for row in (*way, *turns) for who in row.says]
    assert len(said) == len(set(said))
    assert ("queue", "quota") in said and ("queue", "watcher") in said and ("cancelled", "queue") in said


def test_every_room_and_every_folder_of_one_says_what_it_is_for() -> None:
    folders = [folder for room in ROOMS.values() for folder in (room.folder, *room.parts)]
    assert [folder.path for folder in folders if not folder.purpose] == []


@pytest.mark.parametrize(
    ("charter", "purpose", "owns"),
    [
        pytest.param(
            "queue: whose turn is it? Owns: the order. Says: x.", "Whose turn is it?", "The order.", id="a service"
        ),
        pytest.param("All of it (decide.py), once", "All of it (decide.py), once", "", id="no end of a sentence"),
        pytest.param("Adapters. Owns every client. Never decides.", "Adapters.", "Every client.", id="without a colon"),
    ],
)
def test_a_charter_tells_in_its_first_sentence_what_the_room_is_for(charter: str, purpose: str, owns: str) -> None:
    folder = Folder("services/fairway/queue", charter)
    assert (folder.purpose, folder.owns) == (purpose, owns)


def test_a_room_uses_what_any_of_its_files_imports(tmp_path: Path) -> None:
    for name, text in {
        "libs/fairway/a/__init__.py": '"""a."""',
        "libs/fairway/a/part/__init__.py": '"""A part."""\nimport json\nimport fairway.b.x',
        "services/fairway/b/__init__.py": '"""b."""\ndef f():\n    from fairway import c\n    from fairway.b import d',
        "proto/fairway/c/__init__.py": '"""c."""',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    found = rooms(tmp_path)
    assert {name: room.uses for name, room in found.items()} == {"c": (), "a": ("b",), "b": ("c",)}
    assert [part.path for part in found["a"].parts] == ["libs/fairway/a/part"]


def test_an_arrow_that_others_lead_to_as_well_is_left_out() -> None:
    uses = {"a": ("b", "c", "d"), "b": ("c",), "c": (), "d": ()}
    assert needed("a", uses) == ["b", "d"]


def test_the_diagram_has_every_room_in_its_layer() -> None:
    drawn = diagram([("wire",)], {"wire": ROOMS["wire"]})
    assert drawn == 'flowchart TD\n  subgraph layer0[" "]\n    wire\n  end\n'


@pytest.mark.parametrize(
    ("source", "want"),
    [
        pytest.param("wire.Placed(job=x)", {"placed"}, id="constructed"),
        pytest.param("teller.say(wire.Failed, why)", {"failed"}, id="given to who says it"),
        pytest.param("next_attempt(teller, wire.Lost, why)", {"lost", "recall", "queue"}, id="said by a helper"),
        pytest.param("asyncio.Queue(3)", set(), id="the name of something else"),
    ],
)
def test_a_file_that_says_a_message_is_found(source: str, want: set[str]) -> None:
    assert messages_made(source) == want
