"""The fleet's key: made once, whoever is first, and kept where nobody else reads it."""

import asyncio
import stat
from pathlib import Path

import pytest

from fairway.process.fleet_key import FILE, NAME, fleet_key, of_file, of_hub
from fairway.process.main import run
from fairway.process.pipeline import EVERYTHING
from fairway.process.settings import Settings, from_environment
from fairway.runtime import private_files
from tests.support.simulated import PATIENCE_S, simulated


def test_a_file_is_made_for_its_owner_alone_and_read_by_all_who_come_after(tmp_path: Path) -> None:
    path = tmp_path / "clusters" / FILE
    key = of_file(path)
    assert len(key) == 32 and of_file(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == [FILE]


@pytest.mark.parametrize("text", [b"", b"c2hvcnQ=", b"not base64!"])
def test_a_file_that_holds_no_key_is_not_taken_for_one(tmp_path: Path, text: bytes) -> None:
    private_files.write(tmp_path / FILE, text)
    with pytest.raises(ValueError, match="holds no key"):
        of_file(tmp_path / FILE)


@pytest.mark.parametrize("mode", [0o644, 0o602])
def test_a_file_that_others_can_read_or_write_is_refused_with_what_to_do(tmp_path: Path, mode: int) -> None:
    of_file(tmp_path / FILE)
    (tmp_path / FILE).chmod(mode)
    with pytest.raises(ValueError, match=f"every user .mode 0{mode:o}.; chmod 600 {tmp_path / FILE}"):
        of_file(tmp_path / FILE)
    (tmp_path / FILE).chmod(0o640)  # as a Secret that is mounted for the group of a container
    assert len(of_file(tmp_path / FILE)) == 32


def test_what_is_no_file_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(ValueError, match="Is a directory; set FAIRWAY_FLEET_KEY_FILE"):
        of_file(tmp_path / FILE)


def test_where_none_can_be_made_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "folder").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="cannot be made: File exists; set FAIRWAY_FLEET_KEY_FILE"):
        of_file(tmp_path / "folder" / FILE)


@pytest.mark.parametrize("names", [("propagator",), ("watcher",), EVERYTHING], ids=["propagator", "watcher", "all"])
async def test_a_process_that_has_no_place_for_it_does_not_start(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Before NATS is looked for, which is not there."""
    (tmp_path / "http.key").write_text("k" * 44)
    (tmp_path / "http.key").chmod(0o600)
    settings = Settings(http_key_file=str(tmp_path / "http.key"), nats_url="nats://127.0.0.1:1")
    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(
            ValueError, match=r"no place for the fleet's key.*FAIRWAY_CLUSTERS_DIR or FAIRWAY_HUB_KUBEC"
        ):
            await run(names, settings)


async def test_without_a_hub_it_lies_beside_the_kubeconfigs_or_where_a_setting_says(tmp_path: Path) -> None:
    beside = await fleet_key(Settings(clusters_dir=str(tmp_path)), None)
    assert of_file(tmp_path / FILE) == beside
    elsewhere = from_environment({"FAIRWAY_FLEET_KEY_FILE": str(tmp_path / "k")})
    assert await fleet_key(elsewhere, None) == of_file(tmp_path / "k") != beside
    with pytest.raises(ValueError, match="FAIRWAY_FLEET_KEY_FILE"):
        await fleet_key(Settings(), None)


async def test_with_a_hub_all_who_start_at_once_have_the_same_from_one_secret() -> None:
    async with simulated() as (hub, _), asyncio.timeout(PATIENCE_S):
        keys = await asyncio.gather(*(fleet_key(Settings(), hub) for _ in range(4)))
        assert len(set(keys)) == 1 and len(keys[0]) == 32
        assert await of_hub(hub) == keys[0]


async def test_an_empty_secret_as_the_rights_make_it_is_filled_once() -> None:
    async with simulated() as (hub, _), asyncio.timeout(PATIENCE_S):
        await hub.create("Namespace.v1", {"metadata": {"name": "fairway-system"}})
        await hub.create("Secret.v1", {"metadata": {"name": NAME, "namespace": "fairway-system"}})
        keys = await asyncio.gather(*(fleet_key(Settings(), hub) for _ in range(4)))
        assert len(set(keys)) == 1 and await of_hub(hub) == keys[0]
