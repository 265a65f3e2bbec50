"""`fairway replay --clock virtual`, as it is typed: the table, the JSON, the picture, and what is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

HEAD = "timestamp,duration,num_gpus,gpu_time,cluster\n"
# Every fifth job asks for a whole cluster of two nodes, so that some have to wait for room.
SIZES = (1, 2, 1, 8, 16)


def trace(folder: Path, rows: int) -> Path:
    """Jobs of three virtual clusters and of one that has no share, one every ten seconds, for five to forty minutes."""
    file = folder / "trace.csv"
    lines = []
    for row in range(rows):
        gpus = SIZES[row % 5]
        seconds = 300 * (1 + row % 8)
        time = f"2017-10-03 {row // 360:02}:{row // 6 % 60:02}:{row % 6 * 10:02}"
        tenant = "stranger" if row == 7 else f"vc{row % 3}"
        lines.append(f"{time},{seconds}.0,{gpus},{gpus * seconds},{tenant}\n")
    file.write_text(HEAD + "".join(lines))
    (folder / "philly_vc.csv").write_text("vc,node num\nvc0,3\nvc1,2\nvc2,1\n")
    return file


def commanded(file: Path, hash_seed: str, *more: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "fairway.cli.main", "replay", "philly", str(file), "--clock", "virtual"]
    command += ["--clusters", "3", "--nodes", "2", *more]
    return subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, check=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return trace(tmp_path, 60)


def test_the_same_trace_gives_the_same_output_and_picture_to_the_byte_whatever_the_hashes(file: Path) -> None:
    pictures = [file.with_name(f"{name}.svg") for name in ("one", "two")]
    one, two = (
        commanded(file, hash_seed, "-o", "json", "--picture", str(picture))
        for hash_seed, picture in zip("12", pictures, strict=True)
    )
    assert one.returncode == 0, one.stderr
    assert one.stdout == two.stdout
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
    lines = ElementTree.parse(pictures[0]).iter("{http://www.w3.org/2000/svg}polyline")
    report = json.loads(one.stdout)
    found = report["comparison"]
    assert len(list(lines)) == 2 * len(found["policies"]) == 8
    assert (found["jobs"], report["left_out"], report["fairway"]["ends"]) == (59, 1, {"succeeded": 59})
    assert (report["fairway"]["violations"], report["fairway"]["own_seconds_max"]) == (0, 0)
    policies = found["policies"]
    assert [policies[name]["never"] for name in ("Fairway", "FIFO", "SJF, run times known")] == [0, 0, 0]
    assert policies["static partition"]["never"] > 0, "vc2 has one node, and some of its jobs need two"
    assert set(policies["static partition"]["finish_time_fairness"]["rho"].values()) == {1.0}
    assert policies["Fairway"]["wait_seconds"]["mean"] < policies["FIFO"]["wait_seconds"]["mean"]
    assert policies["SJF, run times known"]["wait_seconds"]["mean"] < policies["FIFO"]["wait_seconds"]["mean"]


def test_people_get_a_table_with_a_line_for_each_policy(file: Path) -> None:
    done = commanded(file, "1", "--jobs", "20")
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert "19 jobs on 48 GPUs" in text
    assert [line.split("  ")[0] for line in text.splitlines()[3:7]] == [
        "Fairway",
        "static partition",
        "FIFO",
        "SJF, run times known",
    ]
    assert "no job waited longer than 0 s of the trace for anything but room or quota" in text
    assert "1 rows are of virtual clusters that have no share" in text


def test_a_picture_on_the_real_clock_is_refused_with_what_to_do(file: Path) -> None:
    command = [sys.executable, "-m", "fairway.cli.main", "replay", "philly", str(file), "--picture", "x.svg"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, b"--clock virtual" in done.stderr) == (2, True)


def test_a_folder_that_is_not_there_is_told_before_the_replay(file: Path) -> None:
    done = commanded(file, "1", "--picture", str(file.with_name("absent") / "x.svg"))
    assert (done.returncode, b"is no folder" in done.stderr, done.stdout) == (2, True, b"")
