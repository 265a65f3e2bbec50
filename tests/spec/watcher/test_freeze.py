"""watcher: while most of the fleet is silent nothing is given up, and afterwards everything that is due."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from fairway.adapters.memory.store import MemoryStore
from fairway.domain import decision
from fairway.domain.attempts.eviction_freeze import EVICTIONS, Freeze
from fairway.domain.decision import NOTHING, Call, Decision, Outcome
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Commit
from fairway.runtime.views.settings import Catalog
from fairway.watcher.decide import Late, Listed, decide
from fairway.watcher.memory import WatcherMemory
from fairway.watcher.missing import Emptied
from fairway.watcher.object_checks import GONE, LOOK
from fairway.watcher.object_owner import Observed
from fairway.watcher.service import FreezeShown
from fairway.watcher.silence import SETTLE_MS
from fairway.wire import fleet
from tests.spec.builders.lives import T0, S, dispatched, running
from tests.spec.builders.views import Silent, of, puts, told, verbs

NOW = T0 + 900 * S
KIND = "PyTorchJob.kubeflow.org/v1"
SILENT = Freeze(NOW - S, 2, 3)
LOOKED = (Outcome(Call(LOOK, "c1", "llm-1", 1), True, body=GONE),)
STRAND = fleet.Strand("llm-1", 1, "n1", "has been silent", 99, "team-a")


def shows(state: str, gone: bool = False) -> Any:
    status = {"conditions": [{"type": state, "status": "True", "message": "as it says"}]}
    meta = {"name": "llm", "uid": "u-9"}
    body = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": meta, "status": status}
    seen = Observed(job="llm-1", tenant="team-a", attempt=1, cluster="c1", kind=KIND, manifest=body, gone=gone)
    return told(seen, outcomes=LOOKED if gone else ())


GIVING_UP = {
    "it did not start in time": (told(Late()), NOTHING),
    "its pods are on nodes that are away": (told(fleet.Stranded(cluster="c1", attempts=(STRAND,))), NOTHING),
    "its cluster is emptied": (told(Emptied(cluster="c1")), NOTHING),
    "its object is gone": (shows("Running", gone=True), Decision(again_in=5_000)),
    "a list does not have it": (
        told(Listed(cluster="c1", kind=KIND, keys=frozenset()), outcomes=LOOKED),
        Decision(again_in=5_000),
    ),
}


@pytest.mark.parametrize(("seen", "frozen"), GIVING_UP.values(), ids=list(GIVING_UP))
def test_what_would_be_given_up_is_put_off_while_evictions_are_frozen(seen: Any, frozen: Decision) -> None:
    more = {"overdue": ["llm-1"], "held": {"c1": {"llm-1"}}}
    life = dispatched(start_timeout=60 * S)
    assert verbs(decide(of(life, **more), seen, NOW)) == ["lost", "recall", "queue"]
    assert decide(of(life, **more, silence=Silent(SILENT, SILENT)), seen, NOW) == frozen
    # Seen, and not yet in the store; in the store, and just over.
    assert verbs(decide(of(life, **more, silence=Silent(SILENT)), seen, NOW)) == []
    assert verbs(decide(of(life, **more, silence=Silent(frozen=SILENT)), seen, NOW)) == []
    assert decide(of(life, **more, silence=Silent(unsure=True)), seen, NOW) == frozen


@pytest.mark.parametrize("state", ["Succeeded", "Failed"])
def test_what_a_member_says_of_a_job_counts_all_the_same(state: str) -> None:
    plain = decide(of(running()), shows(state), NOW)
    assert plain.steps
    assert decide(of(running(), silence=Silent(SILENT, SILENT)), shows(state), NOW) == plain


def test_it_is_kept_where_everybody_finds_it() -> None:
    assert puts(decide(of(silence=Silent(SILENT)), told(Late()), NOW), decision.FREEZE) == {EVICTIONS: SILENT}
    over = decide(of(silence=Silent(frozen=SILENT, frozen_rev=3)), told(Late()), NOW)
    assert puts(over, decision.FREEZE) == {EVICTIONS: None}


async def test_a_view_freezes_thaws_and_tells_by_what_was_reported() -> None:
    store = MemoryStore()
    meter = Meter()
    await store.finish_rebuild("1-a")
    view = WatcherMemory(Catalog())
    shown = FreezeShown(meter)
    view.begin()

    async def reports(at: int) -> None:
        infos = {name: (1, b'{"name":"%s","observed_at":%d}' % (name.encode(), at)) for name in ("c1", "c2", "c3")}
        await store.load(decision.CLUSTERS, infos)

    async def look(now: int) -> bool:
        late = [told(Late(members=()))]
        view.take(await store.read(view.wants(late, now)), late, now)
        shown(view)
        steps = decide(view, late[0], now).steps
        for step in steps:
            view.apply(step)
        assert all(await store.commit(Commit(steps)))
        return view.silence.frozen is not None

    await reports(NOW)
    assert not await look(NOW + 30 * S)
    assert await look(NOW + 31 * S)
    assert await look(NOW + 600 * S)
    assert meter.registry.get_sample_value("fairway_evictions_frozen", {"service": "watcher"}) == 1
    await reports(NOW + 601 * S)
    assert await look(NOW + 601 * S)
    await reports(NOW + 601 * S + SETTLE_MS)
    assert await look(NOW + 600 * S + SETTLE_MS)
    assert not await look(NOW + 601 * S + SETTLE_MS)
    assert not await look(NOW + 602 * S + SETTLE_MS)
    assert meter.registry.get_sample_value("fairway_evictions_frozen", {"service": "watcher"}) == 0


async def test_a_list_that_is_the_first_thing_heard_waits_for_the_ledger() -> None:
    store = MemoryStore()
    life = running()
    await store.finish_rebuild("1-a")
    await store.load(decision.JOBS, {life.name: (life.now.rev, msgspec.json.encode(life.now))})
    await store.load(decision.ledger("c1"), {life.now.key: (1, b'{"slots":[],"requests":{},"until":0}')})
    view = WatcherMemory(Catalog())
    late = [told(Listed(cluster="c1", kind=KIND, keys=frozenset()))]
    view.take(await store.read(view.wants(late, NOW)), late, NOW)
    assert decide(view, late[0], NOW).again_in
    view.take(await store.read(view.wants(late, NOW)), late, NOW)
    assert [call.job for call in decide(view, late[0], NOW).calls] == [life.name]


async def test_members_with_jobs_that_have_not_reported_since_the_store_was_lost_are_silent() -> None:
    store = MemoryStore()
    await store.finish_rebuild("1-a")
    for name in ("c1", "c2", "left"):
        await store.load(decision.ledger(name), {f"job-{name}/1": (1, b'{"slots":[],"requests":{},"until":0}')})
    view = WatcherMemory(Catalog())
    late = [told(Late(members=("c1", "c2")))]
    view.take(await store.read(view.wants(late, NOW)), late, NOW)
    assert view.silence.freeze == Freeze(NOW, 2, 2)


@dataclass
class Watched:
    """A view of a store in which clusters report, and are looked at."""

    introduced: list[str]
    view: WatcherMemory = field(init=False)
    store: MemoryStore = field(default_factory=MemoryStore)

    async def begin(self) -> "Watched":
        """On a working set that was just made."""
        self.store.wipe()
        await self.store.finish_rebuild("1-a")
        self.view.begin()
        return self

    def __post_init__(self) -> None:
        self.catalog = Catalog()
        self.view = WatcherMemory(self.catalog)
        self.view.silence.members = ("c1", "c2", "c3")

    async def look(self, now: int, *reporting: str) -> tuple[bool, bool]:
        """Whether it is unsure, and whether it is frozen."""
        infos = {name: (1, b'{"name":"%s","observed_at":%d}' % (name.encode(), now)) for name in reporting}
        await self.store.load(decision.CLUSTERS, infos)
        late = [told(Late())]
        self.catalog.members.clusters = {name: {} for name in self.introduced}
        self.view.take(await self.store.read(self.view.wants(late, now)), late, now)
        return self.view.silence.unsure, self.view.silence.freeze is not None


async def test_of_a_store_that_was_just_lost_nobody_is_sure_until_most_of_the_fleet_has_reported() -> None:
    """One cluster reports; the others were silent when the store was lost, and have no row any more."""
    at = await Watched(["c1", "c2", "c3", "gone"]).begin()
    assert await at.look(NOW, "c1") == (True, False)
    assert await at.look(NOW + 30 * S, "c1") == (True, False)
    assert await at.look(NOW + 31 * S, "c1") == (True, True)
    assert await at.look(NOW + 32 * S, "c2") == (False, False)


async def test_who_joins_has_as_long_to_report_as_any() -> None:
    introduced = ["c1"]
    at = await Watched(introduced).begin()
    assert await at.look(NOW, "c1") == (False, False)
    introduced += ["c2", "c3"]
    assert await at.look(NOW + 60 * S, "c1") == (True, False)
    assert await at.look(NOW + 61 * S, "c1", "c2", "c3") == (False, False)


async def test_a_freeze_outlasts_the_store_until_what_happened_was_seen() -> None:
    at = await Watched(["c1", "c2", "c3"]).begin()
    await at.look(NOW, "c1", "c2", "c3")
    assert await at.look(NOW + 60 * S) == (True, True)
    await at.begin()
    back = NOW + 67 * S
    assert await at.look(back, "c1", "c2", "c3") == (False, True)
    assert await at.look(back + SETTLE_MS - 1, "c1", "c2", "c3") == (False, True)
    assert await at.look(back + SETTLE_MS, "c1", "c2", "c3") == (False, False)
    assert await at.look(back + SETTLE_MS + S, "c1", "c2", "c3") == (False, False)
