"""Room held in real members by a propagator's own hands: whole or not at all, handed over without a gap, never kept.

These tests end propagators and have strangers crowd the nodes, so they run on two members of their own: one with
kube-scheduler, one with koord-scheduler.
"""

import contextlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from fairway.adapters.system_clock import SystemClock
from fairway.agent.report import Seen
from fairway.agent.reservation_ways import ways
from fairway.domain.job import State
from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.control_plane import Plane, Spec, member, planes
from fairway.propagator.held_room import RESERVATION, Room
from fairway.runtime.ports import Unreachable
from fairway.wire.capacity import PLACEHOLDERS, RESERVATIONS
from tests.kubernetes.room.held_room import Stranger, gets_in, gone, held_whole, looked, on_nodes
from tests.kubernetes.room.holding import GPU, Ground, dir_of, ground, until
from tests.kubernetes.support.koord import foreign, only_its_scheduler

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def plain(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Plane]:
    async with planes(dir_of(tmp_path_factory), [member("plain")], tools(("kube", "kwok"))) as found:
        yield found["plain"]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def koord(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Plane]:
    built = tools(("kube", "kwok", "koordinator"))
    spec = Spec("koord", controllers=True, kubelets=True)
    async with planes(dir_of(tmp_path_factory), [spec], built) as found:
        await only_its_scheduler(found["koord"], built)
        yield found["koord"]


async def test_a_gang_takes_its_room_while_a_stranger_tries_all_the_time(plain: Plane) -> None:
    async with ground(plain, "gap", 8) as place:
        rooms = place.rooms()
        room = place.room(PLACEHOLDERS)
        await held_whole(rooms, room)
        async with Stranger(place) as stranger:
            await place.apply(room)
            assert await on_nodes(place, room) == place.nodes
            await gone(place, room)
            assert await stranger.inside() == []


async def test_a_placeholder_and_its_pod_count_once(plain: Plane) -> None:
    async with ground(plain, "once", 2) as place:
        rooms = place.rooms()
        room = place.room(PLACEHOLDERS)
        await held_whole(rooms, room)
        assert await counted(place, room) == {name: {"pod": 1} for name in place.nodes}
        await place.apply(room)
        await on_nodes(place, room)
        assert await counted(place, room) == {name: {"pod": 1} for name in place.nodes}


async def counted(place: Ground, room: Room) -> dict[str, dict[str, int]]:
    """What an agent says of the attempt, by node."""
    seen = Seen()
    for name in place.nodes:
        seen.node(name, await place.cluster.get("Node.v1", "", name))
    for pod in [*await place.ours(room), *await place.held(room)]:
        seen.pod(pod["metadata"]["namespace"], pod["metadata"]["name"], pod)
    nodes, _ = seen.take(full=True)
    return {node.name: node.attempts[room.key].counts for node in nodes if room.key in node.attempts}


@pytest.mark.parametrize("way", [PLACEHOLDERS, RESERVATIONS])
async def test_room_that_cannot_be_had_whole_is_said_with_what_is_missing_and_given_back(
    way: str, plain: Plane, koord: Plane
) -> None:
    name = f"whole-{way[:3]}"
    async with ground(plain if way == PLACEHOLDERS else koord, name, 4) as place:
        await gets_in(place, f"{name}-first")
        rooms = place.rooms()
        room = place.room(way)

        async def all_but_one() -> bool:
            with contextlib.suppress(Unreachable):  # its namespace is being made
                return (await rooms.make("m", room)).ready == 3
            return False

        await until(all_but_one, "what can be had is held")
        found = await looked(rooms, room, times=3)
        assert (found.ready, found.total) == (3, 4) and f"Insufficient {GPU}" in found.why
        await rooms.release("m", room)
        assert await place.held(room) == []
        await gets_in(place, f"{name}-second")


async def test_held_room_ends_by_itself_when_the_propagator_is_dead(plain: Plane) -> None:
    async with ground(plain, "ttl", 2) as place:
        rooms = place.rooms()
        room = place.room(PLACEHOLDERS, ttl=3)
        await held_whole(rooms, room)
        await place.kill(rooms)
        await gets_in(place, "ttl-stranger")
        assert {pod["status"]["phase"] for pod in await place.held(room)} <= {"Failed", "Running"}


async def test_another_propagator_goes_on_where_one_died(plain: Plane) -> None:
    async with ground(plain, "anew", 4) as place:
        rooms = place.rooms()
        room = place.room(PLACEHOLDERS)
        await held_whole(rooms, room)
        await place.kill(rooms)
        await place.apply(room)
        await died_at(place, room)
        async with Stranger(place) as stranger:
            place.rooms()
            assert await on_nodes(place, room) == place.nodes
            await gone(place, room)
            assert await stranger.inside() == []


async def died_at(place: Ground, room: Room) -> None:
    """One pod was nominated, and another one's placeholder has even made way for it."""

    async def come() -> bool:
        return len(await place.ours(room)) == 4

    await until(come, "the pods are there")
    pods = sorted(pod["metadata"]["name"] for pod in await place.ours(room))
    for number, name in ((3, pods[0]), (2, pods[1])):
        body = {
            "metadata": {"labels": {"fairway.io/room": f"0-{number}"}},
            "status": {"nominatedNodeName": place.nodes[number]},
        }
        await place.cluster.patch("Pod.v1", "default", name, body, "status")
    hold = {"fairway.io/hold": PLACEHOLDERS}
    await place.cluster.discard("Pod.v1", "fairway-system", hold, f"{room.job}-1-0-2")


async def test_applied_once_more_an_attempt_does_not_hold_its_room_twice(plain: Plane) -> None:
    async with ground(plain, "twice", 2) as place:
        rooms = place.rooms()
        room = place.room(PLACEHOLDERS)
        await held_whole(rooms, room)
        await place.apply(room)
        await on_nodes(place, room)
        await gone(place, room)
        assert (await rooms.make("m", room)).ready == 2
        assert await place.held(room) == []


@pytest.mark.parametrize("way", [PLACEHOLDERS, RESERVATIONS])
async def test_room_of_an_attempt_that_is_over_is_found_and_given_back(
    way: str, request: pytest.FixtureRequest, plain: Plane, koord: Plane
) -> None:
    async with ground(plain if way == PLACEHOLDERS else koord, f"over-{way[:3]}", 2) as place:
        rooms = place.rooms()
        room = place.room(way)
        await held_whole(rooms, room)
        await place.known(room, State.QUEUED, attempt=2)
        await gone(place, room)


@pytest.mark.parametrize("reserve", ["auto", "alone"])
@pytest.mark.parametrize("way", [PLACEHOLDERS, RESERVATIONS])
async def test_it_takes_no_more_rights_than_a_join_gives(way: str, reserve: str, plain: Plane, koord: Plane) -> None:
    plane = plain if way == PLACEHOLDERS else koord
    async with ground(plane, f"may-{reserve[:3]}-{way[:3]}", 2) as place:
        account = await place.join(way if reserve == "alone" else reserve)
        rooms = place.rooms(account)
        room = place.room(way)
        await held_whole(rooms, room)
        await rooms.release("m", room)
        await gone(place, room)
        await held_whole(rooms, room)
        await place.apply(room, account)
        await on_nodes(place, room)
        await gone(place, room)
        if reserve == "auto":
            assert await ways(account, "auto", SystemClock().now()) == (way,)


async def test_an_agent_finds_out_how_room_can_be_held(plain: Plane, koord: Plane) -> None:
    for plane, want in ((plain, PLACEHOLDERS), (koord, RESERVATIONS)):
        async with ground(plane, f"ways-{want[:3]}", 0) as place:
            assert await ways(place.cluster, "auto", SystemClock().now()) == (want,)
            assert await ways(place.cluster, "auto", SystemClock().now() + 120_000) == ()


async def test_only_the_gangs_own_pods_take_a_reservation(koord: Plane) -> None:
    async with ground(koord, "own", 4) as place:
        rooms = place.rooms()
        room = place.room(RESERVATIONS)
        await held_whole(rooms, room)
        async with Stranger(place) as stranger:
            await place.apply(room)
            assert await on_nodes(place, room) == place.nodes
            await gone(place, room)
            assert await stranger.inside() == []


async def test_a_reservation_ends_by_itself_when_the_propagator_is_dead(koord: Plane) -> None:
    async with ground(koord, "rttl", 2) as place:
        rooms = place.rooms()
        room = place.room(RESERVATIONS, ttl=3)
        await held_whole(rooms, room)
        await place.kill(rooms)

        async def expired() -> bool:
            return {one["status"]["phase"] for one in await place.held(room)} == {"Failed"}

        await until(expired, "the Reservations have expired")
        # One that was refused before would be tried again at the next event only.
        await gets_in(place, "rttl-stranger")


async def test_what_others_have_reserved_is_used_and_what_we_have_is_the_attempts(koord: Plane) -> None:
    async with ground(koord, "used", 2) as place:
        rooms = place.rooms()
        room = place.room(RESERVATIONS, pods=1)
        await held_whole(rooms, room)
        theirs = foreign(await place.cluster.get(RESERVATION, "", room.names[0]), "used-theirs", place.nodes[1])
        await place.cluster.create(RESERVATION, theirs)

        async def available() -> bool:
            found = await place.cluster.get(RESERVATION, "", "used-theirs")
            return ((found or {}).get("status") or {}).get("phase") == "Available"

        await until(available, "the stranger's Reservation is held")
        seen = Seen()
        for name in place.nodes:
            seen.node(name, await place.cluster.get("Node.v1", "", name))
        for name in (room.names[0], "used-theirs"):
            seen.reservation(name, await place.cluster.get(RESERVATION, "", name))
        # koord-scheduler gives our Reservation whichever node it likes.
        ours, others = sorted(seen.take(full=True)[0], key=lambda one: room.key not in one.attempts)
        assert (ours.attempts[room.key].counts, ours.used) == ({"pod": 1}, {})
        assert (others.attempts, others.used[GPU]) == ({}, 8)
        await place.cluster.discard(RESERVATION, "", {"who": "else"}, "used-theirs")
