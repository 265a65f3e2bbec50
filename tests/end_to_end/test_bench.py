"""The benchmark runs and reports. What it measures is never judged here: machines differ."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

FIGURES = (
    "jobs_per_second",
    "bare_jobs_per_second",
    "ratio_to_bare",
    "p50_ms",
    "p99_ms",
    "half_p50_ms",
    "half_p99_ms",
    "cpu_us_per_job",
    "bare_cpu_us_per_job",
)
SPREAD = ("p50_ms", "p95_ms", "p99_ms", "mean_ms")


async def bench(name: str, *options: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "fairway.cli.main",
        "bench",
        name,
        *options,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def reported(name: str, *options: str) -> Any:
    """What a benchmark says as JSON, after the checks that hold for each."""
    code, out, err = await bench(name, *options, "-o", "json")
    assert code == 0, err
    report = json.loads(out)
    assert report["name"] == name
    assert set(report["missed"]) <= set(report["goals"]) <= set(report["figures"])
    assert all(size > 0 for size in report["rss_peak_mib"].values())
    return report


async def test_the_bench_reports_and_dispatches_every_job_exactly_once() -> None:
    """2,000 jobs, 50 before them to warm up and 500 after them at half the rate."""
    report = await reported("pipeline", "--jobs", "2000", "--warmup", "50", "--clusters", "20", "--nodes", "50")
    assert report["counts"] == {"submitted": 2_550, "dispatched": 2_550, "not_once": 0}
    assert all(report["figures"][name] > 0 for name in FIGURES)
    assert set(report["figures"]) == set(FIGURES)
    assert report["met"] == (not report["missed"])
    assert {"nats", "valkey", "all"} <= set(report["cpu_seconds_per_job"])
    assert {"python", "nats-py", "msgspec"} <= set(report["versions"])
    assert report["machine"]["cores"] > 0
    assert report["details"]["message_bytes"]["submitted"] > 2_000, "manifests are of the size that people write"
    assert report["details"]["quota_levels"] == 3, "jobs are charged from the root down to their tenant"


@pytest.mark.parametrize("number", ["5", "0"])
async def test_a_number_of_processes_that_has_no_split_is_refused_with_those_that_have(number: str) -> None:
    code, _, err = await bench("pipeline", "--processes", number)
    assert code == 2
    assert "1, 2, 3, 4, 7" in err


async def test_each_freed_room_starts_the_job_whose_turn_it_is_and_no_other() -> None:
    report = await reported("wake-up", "--jobs", "100", "--rounds", "8", "--clusters", "4", "--nodes", "5")
    assert report["counts"] == {"waited": 100, "rounds": 8, "started": 8, "not_right": 0, "never_woken": 0}
    assert report["figures"]["sweep_wakes"] == 0
    assert report["figures"]["freed_p50_ms"] > 0
    assert report["figures"]["wakes_per_start"] >= 1


async def test_after_a_wipe_the_store_holds_what_it_held_before() -> None:
    report = await reported("rebuild", "--jobs", "2000", "--waiting", "100", "--clusters", "20", "--nodes", "50")
    tables = ("jobs", "placed", "live", "names", "clients", "ledger", "quota", "holds", "places")
    same = {f"{table}_differ": 0 for table in tables}
    assert report["counts"] == {"running": 2_000, "waiting": 100, "not_once": 0, **same}
    assert report["figures"]["capacity_known_seconds"] >= report["figures"]["dispatching_again_seconds"] > 0
    assert report["details"]["record"]["messages"] >= 2_100, "each submission is a message of its own"


async def test_of_a_backlog_a_freed_slot_starts_the_first_that_it_serves_and_no_other() -> None:
    report = await reported(
        "backlog", "--jobs", "300", "--asked", "4", "--rounds", "6", "--tenants", "6", "--clusters", "4", "--nodes", "6"
    )
    assert report["counts"] == {"waited": 300, "answers": 8, "rounds": 6, "started_right": 6, "started": 6}
    assert set(report["details"]["rss_mib"]) >= {"gateway", "nats", "valkey"}
    figures = ("services_gib", "get_jobs_p50_ms", "why_p50_ms", "freed_p50_ms")
    assert all(report["figures"][name] > 0 for name in figures)


@pytest.mark.slow  # tests/faults has processes that are stopped and begin, and test_kill.py kills each
async def test_jobs_are_neither_lost_nor_doubled_while_instances_of_every_stage_come_and_go() -> None:
    report = await reported(
        *("workers", "--jobs", "100", "--warmup", "20", "--clusters", "4", "--nodes", "5", "--tenants", "5"),
        *("--window", "50", "--instances", "1,2", "--takeovers", "1"),
    )
    counts = dict(report["counts"])
    assert counts.pop("submitted_dispatching") == 20 + 2 * 100
    assert counts.pop("submitted") >= 100
    # Of each of seven stages, of gateway and of hub one is killed and one stopped, and another comes for each.
    assert counts.pop("changes") == 9 * 2 * 2
    assert counts.pop("on_hub") > 0
    assert not any(counts.values()), counts
    assert {"lost", "double", "double_in_members", "never_in_members", "breaches"} <= set(counts)
    assert {f"jobs_per_second_{number}" for number in (1, 2)} <= set(report["figures"])
    assert {"queue_2", "queue-2_2", "gateway-2_2", "reserver-2_2"} <= set(report["cpu_seconds_per_job"])
    assert report["figures"]["queue_stopped_p50_ms"] > 0 < report["figures"]["queue_killed_p50_ms"]
    assert report["figures"]["hub_stopped_p50_ms"] > 0 < report["figures"]["hub_killed_p50_ms"]


async def test_the_same_jobs_go_through_fleets_of_each_number_of_clusters_exactly_once() -> None:
    report = await reported(
        "clusters", "--sizes", "2,20", "--jobs", "120", "--warmup", "20", "--nodes", "30", "--window", "50"
    )
    counts = {"submitted": 140, "dispatched": 140, "not_once": 0}
    assert report["counts"] == {f"{name}_{size}": count for size in (2, 20) for name, count in counts.items()}
    figures = report["figures"]
    assert 0 < figures["flatness"] <= 1
    assert figures["cache_mib_20"] > figures["cache_mib_2"] > 0, "what is known of more nodes takes more"


async def test_every_decision_says_something_of_each_cluster_and_no_room_is_given_twice() -> None:
    report = await reported("decisions", "--sizes", "3,20", "--nodes", "30", "--decisions", "100", "--warmup", "30")
    # Of gangs of several shapes a quarter as many.
    counts = {"decided": 100, "several_decided": 25}
    counts |= {f"{kind}{name}": 0 for kind in ("", "several_") for name in ("incomplete", "overfull")}
    assert {name: count for name, count in report["counts"].items() if "placed" not in name} == {
        f"{name}_{size}": count for size in (3, 20) for name, count in counts.items()
    }
    assert report["counts"]["placed_20"] > 50, "half of the room is free"
    assert all(figure > 0 for figure in report["figures"].values())
    assert report["details"]["20"]["message_bytes"] > report["details"]["3"]["message_bytes"]
    assert report["versions"]["numpy"]


async def test_claims_get_their_room_each_time_and_nobody_goes_in_vain() -> None:
    """A gang that is cancelled as soon as it is dispatched, three times, so that its victims go again; and forty jobs,
    each of which claims by itself."""
    fleet = ("--clusters", "3", "--nodes", "5", "--candidates", "20", "--busy", "3", "--seeds", "1", "--rounds", "2")
    report = await reported("evict", *fleet, "--small", "5", "--victims", "16", "--claims", "3", "--owners", "40")
    counts = {"claims_16_victims": 3, "in_vain_16_victims": 0, "recalled_40_claims": 40}
    assert {name: report["counts"][name] for name in counts} == counts
    assert report["figures"]["claim_to_recall_p99_ms_16_victims"] > 0
    assert report["figures"]["min_back_seconds_40_claims"] > 0


async def test_numbers_of_clusters_that_are_none_are_refused() -> None:
    code, _, err = await bench("clusters", "--sizes", "3,many")
    assert (code, "3,many" in err) == (2, True)


async def test_under_the_load_of_kueues_test_every_job_succeeds_exactly_once() -> None:
    """Two cohorts of two queues, ten jobs each: seven small, two medium, one large of the whole nominal quota."""
    small = ("--cohorts", "2", "--queues", "2", "--jobs", "10", "--clusters", "2", "-o", "json")
    code, out, err = await bench("kueue-baseline", *small)
    assert code == 0, err
    report = json.loads(out)
    assert report["name"] == "kueue-baseline"
    wrong = dict.fromkeys(("besides", "unaccounted", "unheard", "evicted"), 0)
    counts = {"submitted": 40, "dispatched": 40, "succeeded": 40, **wrong}
    assert report["counts"] == {f"{name}_on_2": count for name, count in counts.items()}
    figures = report["figures"]
    assert figures["wall_seconds_on_2"] > 1, "the large job alone runs for a second"
    work = 4 * (7 * 1 * 0.2 + 2 * 5 * 0.5 + 1 * 20 * 1.0)
    assert figures["useful_usage_on_2"] == pytest.approx(work / (80 * figures["wall_seconds_on_2"]), abs=0.002)
    assert all(figures[f"{kind}_{what}_on_2"] > 0 for kind in ("small", "medium", "large", "held") for what in SPREAD)
    assert figures["wall_by_bound_on_2"] == pytest.approx(figures["wall_seconds_on_2"] * 80 / work, rel=0.01)
    goals = ("wall_seconds", "wall_by_bound", "useful_usage", "large_mean_ms", "lost_work", "back_p99_ms")
    assert set(report["goals"]) == {f"{name}_on_2" for name in goals}
    assert {"clusters_on_2", "nats_on_2", "all_on_2"} <= set(report["cpu_seconds_per_job"])


@pytest.mark.parametrize(
    ("option", "given", "want"),
    [
        pytest.param("--jobs", "15", "a multiple of ten", id="jobs that are no multiple of ten"),
        pytest.param("--clusters", "0", "such as 3,30", id="no cluster"),
        pytest.param("--clusters", "1,few", "such as 3,30", id="no number"),
    ],
)
async def test_a_load_that_has_no_form_is_refused(option: str, given: str, want: str) -> None:
    code, _, err = await bench("kueue-baseline", option, given)
    assert (code, want in err) == (2, True)


async def test_allocation_says_what_each_policy_gets_of_the_gpus(tmp_path: Path) -> None:
    """Four nodes of two GPUs; pods of one, of two and of half a GPU."""
    nodes = "".join(f"n{index},16000,65536,2,T4\n" for index in range(4))
    (tmp_path / "openb_node_list_gpu_node.csv").write_text(f"sn,cpu_milli,memory_mib,gpu,model\n{nodes}")
    head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
    rows = "".join(f"p{gpus}{milli},1000,1024,{gpus},{milli},\n" for gpus, milli in ((1, 1000), (2, 1000), (1, 500)))
    file = tmp_path / "pods.csv"
    file.write_text(head + rows)
    code, out, err = await bench("allocation", "openb", str(file), "--seeds", "2", "--clusters", "1,2", "-o", "json")
    assert code == 0, err
    report = json.loads(out)
    assert report["counts"] == {"nodes": 4, "gpus": 8, "seeds": 2, "overfull": 0}
    assert report["figures"]["held_percent_at_130_fairway_2"] > report["figures"]["allocated_percent_at_130_fairway_2"]
    code, _, err = await bench("allocation", "openb", str(tmp_path / "absent.csv"))
    assert (code, "openb_node_list_gpu_node.csv" in err) == (2, True)
    code, _, err = await bench("allocation", "openb")
    assert (code, "Missing argument 'file'" in err) == (2, True)


async def test_idle_says_what_one_fleet_makes_of_idle_processors_and_what_queues_of_clusters_do(tmp_path: Path) -> None:
    """Two clusters of a node each, and jobs of a quarter of an hour at the begin of the day."""
    nodes = "".join(f"n{index},64000,262144,0,\n" for index in range(2))
    (tmp_path / "openb_node_list_all_node.csv").write_text(f"sn,cpu_milli,memory_mib,gpu,model\n{nodes}")
    head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time\n"
    rows = ("online,8000,16384,0,0,LS,0,90000,0", "batch,4000,8192,0,0,BE,300,1200,300")
    file = tmp_path / "pods.csv"
    file.write_text(head + "\n".join(rows))
    code, out, err = await bench(
        "idle", "openb", str(file), *("--clusters", "2", "--nodes", "1", "--demand", "1"), "-o", "json"
    )
    assert code == 0, err
    report = json.loads(out)
    counts = report["counts"]
    assert counts["jobs"] > 1
    assert {counts["succeeded_fleet"], counts["succeeded_home"]} == {counts["jobs"]}
    assert (counts["nodes"], counts["violations_fleet"], counts["violations_home"]) == (2, 0, 0)
    figures = report["figures"]
    assert figures["completion_mean_minutes_fleet"] >= 15
    assert 0 < figures["unused_percent_fleet"] < figures["unused_without_percent_fleet"] < 100
    goals = {"lost_percent_fleet", "online_delayed_core_seconds_fleet", "completion_mean_fleet_to_home"}
    assert set(report["goals"]) == goals <= set(figures)
    code, _, err = await bench("idle", "openb", str(tmp_path / "absent.csv"))
    assert (code, "openb_node_list_all_node.csv" in err) == (2, True)
