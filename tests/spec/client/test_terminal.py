"""What a person sees on a terminal: aligned, uncut in a pipe, and safe whatever a job is called."""

import io

import msgspec
import pytest

from fairway.cli.tables import render_clusters, render_jobs, render_queues, render_quota
from fairway.client.terminal import clean, console, render_story, render_table, render_why
from fairway.domain.held_object import HeldObject
from fairway.domain.queue_policy import QueuePolicy, QueueSpec
from fairway.domain.quota.tree import QuotaNode
from fairway.explain.held import story_of_held, why_held
from fairway.explain.story import compose, why
from fairway.gateway.held_objects import row_of_held
from fairway.gateway.http.answers import QueueRow, Slim, cluster_row, job_row, queue_rows
from fairway.gateway.quota_rows import QuotaRow, quota_rows, used_by_node
from fairway.wire import jobs as wire
from fairway.wire.asks import QueuePlace
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import RemovedManifest
from tests.spec.builders.lives import GPU, T0, S, failing, queued, running


def printed(text: object) -> str:
    out = io.StringIO()
    console(out).print(text, end="")
    return out.getvalue()


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param("plain – ✓", "plain – ✓", id="printable text of any language stays"),
        pytest.param("a\x1b[2Jb", "a\\x1b[2Jb", id="an escape sequence is shown, not obeyed"),
        pytest.param("a\r\nb\x9bc", "a\\x0d\\x0ab\\x9bc", id="line ends and C1 controls too"),
        pytest.param("gpj\u202eexe", "gpj\\x202eexe", id="nothing turns the direction of the line"),
        pytest.param("x" * 2_003, "x" * 2_000 + "... (3 more)", id="an endless text is cut, and says so"),
        pytest.param("[red]x[/red]", "[red]x[/red]", id="markup is text"),
    ],
)
def test_text_from_outside_is_shown_as_it_is(given: str, want: str) -> None:
    assert clean(given) == want
    assert printed(render_table(["A"], [[given]])).splitlines()[1] == want


def test_the_story_of_a_moved_job_names_each_attempt_and_how_long_each_step_took() -> None:
    life = failing(running())
    shown = printed(render_story(compose(life.now, life.said)))
    assert shown.startswith("PyTorchJob team-a/llm: queued in attempt 2, 1 min 7 s in all (job llm-1)\n\nAttempt 1, ")
    assert "22:14:27Z       +1 min  failed     Failed in c1: exit code 137 [JobFailed].\n" in shown
    assert "\nAttempt 2, 2023-11-14 22:14:27Z\n" in shown


def test_the_time_of_a_job_ends_with_its_end_and_not_with_what_is_said_a_month_later() -> None:
    done = running().then(wire.Succeeded, cluster="c1", text="done", after=60 * S)
    removed = RemovedManifest(1, "m-1", "submitted", "9f" * 32, 20)
    done.then(wire.ManifestsRemoved, removed=(removed,), kept=30 * 86_400 * S, after=31 * 86_400 * S)
    shown = printed(render_story(compose(done.now, done.said)))
    assert shown.startswith("PyTorchJob team-a/llm: succeeded in attempt 1, 1 min 7 s in all (job llm-1)\n")
    assert "+31 d" in shown and "manifests_removed" in shown
    lost = running().then(wire.Lost, cluster="c1", why=WAITS, final=True, after=60 * S)
    lost.then(wire.Recall, cluster="c1", why=WAITS, after=60 * S)
    assert "failed in attempt 1, 1 min 7 s in all" in printed(render_story(compose(lost.now, lost.said)))


WAITS = Reason(Code.UNKNOWN_QUEUE, "the hub has no Queue gold", remedy="create the Queue, or name another one or none")
HELD = HeldObject("Job.batch/v1", "team-a", "train", "u-1", T0, WAITS, "train-aaaaaaaaaa")


def test_what_is_held_on_the_hub_says_so_with_its_cause_and_what_would_move_it() -> None:
    assert printed(render_why(why_held(HELD, None, T0 + 5 * S))) == (
        "Job team-a/train is held on the hub since 2023-11-14 22:13:20Z (5 s); it is not submitted.\n"
        "  UnknownQueue  The hub has no Queue gold.\n"
        "\n"
        "What would move it\n"
        "  - Create the Queue, or name another one or none.\n"
        "\n"
        "no job yet, id train-aaaaaaaaaa, as of 2023-11-14 22:13:25Z\n"
    )


def test_the_story_of_what_is_held_has_no_attempt() -> None:
    assert printed(render_story(story_of_held(HELD, [], [], ""))) == (
        "Job team-a/train: held on the hub (no job yet, id train-aaaaaaaaaa)\n"
        "\n"
        "On the hub, 2023-11-14 22:13:20Z\n"
        "  22:13:20Z        +0 ms  held       Held on the hub and not submitted: the hub has no Queue gold"
        " [UnknownQueue]; create the Queue, or name another one or none.\n"
    )


def test_it_is_a_line_among_the_jobs() -> None:
    table = render_jobs([row_of_held(HELD), job_row(queued().now)], T0 + 5 * S).plain
    assert [line.split()[:9] for line in table.splitlines()] == [
        ["NAMESPACE", "NAME", "KIND", "STATE", "CLUSTER", "QUEUE", "ATTEMPT", "AGE", "REASON"],
        ["team-a", "train", "Job", "held", "-", "-", "-", "5", "s"],
        ["team-a", "llm", "PyTorchJob", "queued", "-", "gold", "1/3", "4", "s"],
    ]


def test_a_record_that_lags_behind_is_admitted() -> None:
    life = queued()
    assert "does not show revision 2 yet" in printed(render_story(compose(life.now, life.said[:2])))


def test_the_why_has_its_cause_first_and_what_would_move_it_below() -> None:
    place = QueuePlace("gold", "Block", 2, ("big-1",), "BehindHead", "big-1 needs 16 GPUs; 12 are free")
    lines = printed(render_why(why(queued().now, place, queued().now.at + S))).splitlines()
    assert lines[0].startswith("PyTorchJob team-a/llm waits at position 2 in queue gold (Block")
    assert lines[1] == "  BehindHead  big-1 needs 16 GPUs; 12 are free."
    assert lines[3:5] == ["What would move it", "  - big-1 is let go, or is cancelled."]


def test_lists_are_aligned_and_not_cut_in_a_pipe() -> None:
    rows = [job_row(running().now), job_row(queued(name="a-name-that-is-" + "long" * 40).now)]
    head, first, second = printed(render_jobs(rows, rows[0].since + 60 * S, wide=True)).splitlines()
    assert {line.index(word) for line, word in ((head, "STATE"), (first, "running"), (second, "queued"))} == {
        head.index("STATE")
    }
    assert first.split()[:5] == ["team-a", "llm", "PyTorchJob", "running", "c1"]


def test_a_queue_counts_who_waits_and_who_was_let_go() -> None:
    jobs = [
        Slim("b", "queued", "gold", 2 * S),
        Slim("a", "queued", "gold", 1 * S),
        Slim("c", "placed", "gold"),
        Slim("d", "running", "gold"),
        Slim("e", "admitted"),
    ]
    rows = queue_rows(jobs, {"silver": QueueSpec("silver", QueuePolicy.BLOCK, 7, by_time=True)})
    assert rows == [
        QueueRow("gold", 2, 1, 1, "", "a", 1 * S),
        QueueRow("silver", policy="Block", by_time=True, priority=7),
    ]
    head, gold, silver = (line.split() for line in printed(render_queues(rows, 61 * S)).splitlines())
    assert head[:3] == ["QUEUE", "PRIORITY", "POLICY"]
    assert gold == ["gold", "0", "-", "2", "1", "1", "a", "1", "min"]
    assert silver[:3] == ["silver", "7", "Block"]


def test_quota_shows_used_against_its_limits_in_the_units_people_write() -> None:
    used = used_by_node({"root/a|cpu": 1500, "root/a|memory": 0, "root|cpu": 1500})
    assert used == {"root/a": {"cpu": 1500}, "root": {"cpu": 1500}}
    shown = printed(render_quota([QuotaRow("root/a", used["root/a"], {"cpu": 1000}, {"cpu": 4000, "memory": 2**30})]))
    assert [line.split() for line in shown.splitlines()[1:]] == [
        ["root/a", "cpu", "1", "1.5", "0", "0", "4", "0.0", "%"],
        ["root/a", "memory", "0", "0", "0", "0", "1Gi", "0.0", "%"],
    ]


def test_quota_shows_what_is_borrowed_and_lent_and_mins_that_the_clusters_do_not_have() -> None:
    leaves = tuple(QuotaNode(name, f"root/{name}", {GPU: 8}) for name in ("vision", "speech"))
    tree = QuotaNode("root", "root", {GPU: 16}, {GPU: 16}, children=leaves)
    usage = {f"root|{GPU}": 14, f"root/speech|{GPU}": 12, f"root/vision|{GPU}": 2}
    rows = quota_rows(tree, usage, {GPU: 14})
    shown = [line.split(maxsplit=9) for line in printed(render_quota(rows)).splitlines()]
    assert shown[0] == ["QUOTA", "RESOURCE", "MIN", "USED", "BORROWED", "LENT", "MAX", "SHARE", "NOTE"]
    note = "MinNotBacked: the mins below add up to 16, the clusters have 14"
    assert shown[1] == ["root", GPU, "16", "14", "0", "0", "16", "0.0", "%", note]
    assert shown[2][2:7] == ["8", "2", "0", "4", "no"]
    assert shown[3][2:6] == ["8", "12", "4", "0"]
    assert shown[3][8:] == ["25.0", "%  -"]


def test_a_cluster_adds_up_its_nodes_and_a_cordoned_one_is_not_free() -> None:
    nodes = [
        Node("n1", {"cpu": 4000, "nvidia.com/gpu": 8}, used={"cpu": 500}, holds={"j/1": {"nvidia.com/gpu": 6}}),
        Node("n2", {"cpu": 4000, "nvidia.com/gpu": 8}, schedulable=False),
    ]
    row = cluster_row(ClusterInfo("c1", observed_at=10 * S), nodes, 50 * S)
    assert (row.free, row.held, row.stale) == ({"cpu": 3500, "nvidia.com/gpu": 2}, {"nvidia.com/gpu": 6}, True)
    assert "1/2    40 s ago (stale: no new work)  3.5 cpu, 2 nvidia.com/gpu" in printed(render_clusters([row]))
    frozen = msgspec.structs.replace(row, frozen=True)
    assert "40 s ago (stale: no new work; evictions frozen)" in printed(render_clusters([frozen]))


@pytest.mark.parametrize("reported", [0, 10 * S])
def test_a_report_that_is_held_back_is_shown_by_its_reason_with_what_to_do(reported: int) -> None:
    info = ClusterInfo("c1", observed_at=reported, unconfirmed="reports 64 nvidia.com/gpu, joined with 16")
    shown = printed(render_clusters([cluster_row(info, (), 20 * S)]))
    assert "UnconfirmedCapacity: c1 reports 64 nvidia.com/gpu, joined with 16, which is not counted" in shown
    assert "fairway join c1 --confirm-capacity" in shown


def test_a_cluster_that_never_reported_says_so() -> None:
    assert "none yet" in printed(render_clusters([cluster_row(ClusterInfo("c1"), (), 50 * S)]))
