"""Who may do what, whole: role × operation × tenant × door, on a real API server and a real nats-server, with the roles
of deploy/hub/callers.yaml and the permissions of deploy/nats/members.conf.

A cell says what is answered, and what comes of it:
    ok    it is taken          +  it stands in the record, said by this caller through this door
    401   nobody is known      !  it was heard, and refused in the record
    *     it stands there, said by this caller and once more by the hub, which keeps settings that come over HTTP
    403   it is not allowed    :a tenant A's job is named in the answer, :ab those of both
    404   not even whether it is there is told       422  refused by a rule that holds for all
    denied  the bus refuses the subject              out  the bus lets nobody in
Without a mark nothing comes of it: no message has it, and the hub has no such object."""

import time
from collections.abc import Iterator

import pytest

from tests.kubernetes.matrix.bus import all_tried
from tests.kubernetes.matrix.doors import SETTINGS, Cell, ask, effect, prepared, where
from tests.kubernetes.matrix.fleet import USERS, House
from tests.kubernetes.support.own import Own

# For what is to come to have come; and for what is not to come, behind it.
PATIENCE_S = 30
SETTLED_S = 1.0

HUB = """
                                      admin   operator  tenant-a  tenant-b  viewer-a  known  nobody
submit in team-a                      ok+     ok+       ok+       403       403       403    403
submit in team-b                      ok+     ok+       403       ok+       403       403    403
dry run in team-a                     ok      ok        ok        403       403       403    403
dry run in team-b                     ok      ok        403       ok        403       403    403
list in team-a                        ok:a    ok:a      ok:a      403       ok:a      403    403
list in team-b                        ok:b    ok:b      403       ok:b      403       403    403
list everywhere                       ok:ab   ok:ab     403       403       403       403    403
one in team-a                         ok:a    ok:a      ok:a      403       ok:a      403    403
one in team-b                         ok:b    ok:b      403       ok:b      403       403    403
status in team-a                      ok:a    403       403       403       403       403    403
events in team-a                      ok:a    403       403       403       ok:a      403    403
bindings in team-a                    ok:a    403       403       403       403       403    403
cancel in team-a                      ok+     ok+       ok+       403       403       403    403
cancel in team-b                      ok+     ok+       403       ok+       403       403    403
queues                                ok      ok        403       403       403       403    403
quota                                 ok      ok        403       403       403       403    403
clusters                              ok      403       403       403       403       403    403
the fleet's key                       ok      403       403       403       403       403    403
Fairway's token                       ok      403       403       403       403       403    403
the door's address                    ok      ok        ok        ok        ok        ok     403
with the token for HTTP               ok      401       401       ok        ok        401    403
as the admin                          ok      403       403       403       403       403    403
PropagationPolicy in team-a           ok+     ok+       ok+       403       403       403    403
PropagationPolicy in team-b           ok+     ok+       403       ok+       403       403    403
ClusterPropagationPolicy              ok+     ok+       403       403       403       403    403
Queue in kube-queue                   ok+     ok+       403       403       403       403    403
Queue in team-a                       ok!     ok!       403       403       403       403    403
ElasticQuotaTree in kube-system       ok+     ok+       403       403       403       403    403
ElasticQuotaTree in team-a            ok!     ok!       403       403       403       403    403
PriorityClass                         ok+     ok+       403       403       403       403    403
TenantProfile                         ok+     403       403       403       403       403    403
"""
HTTP = """
                                      admin   operator  tenant-a  tenant-b  viewer-a  known  nobody
submit in team-a                      ok+     ok+       ok+       403       403       403    401
submit in team-b                      ok+     ok+       403       ok+       403       403    401
batch in team-a                       ok+     ok+       ok+       403       403       403    401
batch in team-b                       ok+     ok+       403       ok+       403       403    401
dry run in team-a                     ok      ok        ok        403       403       403    401
dry run in team-b                     ok      ok        403       ok        403       403    401
list in team-a                        ok:a    ok:a      ok:a      403       ok:a      403    401
list in team-b                        ok:b    ok:b      403       ok:b      403       403    401
list everywhere                       ok:ab   ok:ab     ok:a      ok:b      ok:a      ok     401
one in team-a                         ok:a    ok:a      ok:a      404       ok:a      404    401
one in team-b                         ok:b    ok:b      404       ok:b      404       404    401
one in team-x                         404     404       404       404       404       404    401
why in team-a                         ok:a    ok:a      ok:a      404       ok:a      404    401
why in team-b                         ok:b    ok:b      404       ok:b      404       404    401
story in team-a                       ok:a    ok:a      ok:a      404       ok:a      404    401
story in team-b                       ok:b    ok:b      404       ok:b      404       404    401
events in team-a                      ok:a    ok:a      ok:a      403       ok:a      403    401
events in team-b                      ok:b    ok:b      403       ok:b      403       403    401
cancel in team-a                      ok+     ok+       ok+       404       403       404    401
cancel in team-b                      ok+     ok+       404       ok+       404       404    401
queues                                ok:a    ok:a      403       ok        403       403    401
quota                                 ok      ok        403       ok        403       403    401
clusters                              ok      ok        403       ok        403       403    401
the document                          ok      ok        ok        ok        ok        ok     401
the metrics                           404     404       404       404       404       404    401
as the admin                          ok      ok        403       ok        403       403    401
PropagationPolicy in team-a           ok*     ok*       ok*       403       403       403    401
PropagationPolicy in team-b           ok*     ok*       403       ok*       403       403    401
ClusterPropagationPolicy              ok*     ok*       403       403       403       403    401
Queue in kube-queue                   ok*     ok*       403       403       403       403    401
Queue in team-a                       422     422       403       403       403       403    401
ElasticQuotaTree in kube-system       ok*     ok*       403       403       403       403    401
ElasticQuotaTree in team-a            422     422       403       403       403       403    401
PriorityClass                         ok*     ok*       403       403       403       403    401
TenantProfile                         ok*     403       403       403       403       403    401
"""
BUS = """
                                      fairway  team-a  team-b  north   stranger
submit in team-a                      ok+      ok+     denied  denied  out
submit in team-b                      ok+      denied  ok+     denied  out
submit as team-a in team-b            ok!      ok!     denied  denied  out
submit as team-b in team-a            ok!      denied  ok!     denied  out
cancel in team-a                      ok+      ok+     denied  denied  out
cancel in team-b                      ok+      denied  ok+     denied  out
cancel as team-a in team-b            ok!      ok!     denied  denied  out
cancel as team-b in team-a            ok!      denied  ok!     denied  out
say fairway.in.team-a.other           ok+      denied  denied  denied  out
say fairway.job.submitted.team-a      ok+      denied  denied  denied  out
say fairway.job.cancel.team-a         ok+      denied  denied  denied  out
say fairway.job.lost.team-a           ok+      denied  denied  denied  out
say fairway.config.Queue.x.y          ok+      denied  denied  denied  out
say that there is north               ok+      denied  denied  ok+     out
say that there is west                ok+      denied  denied  denied  out
say fairway.cluster.report.north      ok+      denied  denied  ok+     out
say fairway.cluster.report.west       ok+      denied  denied  denied  out
say fairway.cluster.stranded.north    ok+      denied  denied  ok+     out
say fairway.cluster.stranded.west     ok+      denied  denied  denied  out
say fairway.cluster.freed.north       ok+      denied  denied  denied  out
say fairway.dlq.inbound               ok+      denied  denied  denied  out
say fairway.member.north.ask          ok       denied  denied  denied  out
say fairway.member.north.reply.x      ok       denied  denied  ok      out
say fairway.member.west.reply.x       ok       denied  denied  denied  out
say _INBOX_team-a.x                   ok       denied  denied  denied  out
hear fairway.job.*.team-a             ok       ok      denied  denied  out
hear fairway.job.*.team-b             ok       denied  ok      denied  out
hear fairway.job.>                    ok       denied  denied  denied  out
hear fairway.in.team-a.submit         ok       denied  denied  denied  out
hear fairway.config.>                 ok       denied  denied  denied  out
hear fairway.cluster.>                ok       denied  denied  denied  out
hear fairway.dlq.>                    ok       denied  denied  denied  out
hear fairway.member.north.ask         ok       denied  denied  ok      out
hear fairway.member.west.ask          ok       denied  denied  denied  out
hear fairway.ask.report.north         ok       denied  denied  ok      out
hear _INBOX.>                         ok       denied  denied  denied  out
hear _INBOX_team-a.>                  ok       silent  denied  denied  out
hear >                                ok       denied  denied  denied  out
ask $JS.API.INFO                      ok       denied  denied  denied  out
ask $JS.API.STREAM.NAMES              ok       denied  denied  denied  out
ask $JS.API.STREAM.INFO.JOBS          ok       denied  denied  denied  out
ask $JS.API.STREAM.MSG.GET.JOBS       ok       denied  denied  denied  out
ask $JS.API.DIRECT.GET.JOBS           ok       denied  denied  denied  out
ask $JS.API.CONSUMER.CREATE.JOBS      ok       denied  denied  denied  out
ask $JS.API.CONSUMER.NAMES.JOBS       ok       denied  denied  denied  out
ask $JS.API.STREAM.PURGE.IN           .        denied  denied  denied  out
ask $JS.API.STREAM.DELETE.IN          .        denied  denied  denied  out
ask $JS.API.STREAM.CREATE.MINE        .        denied  denied  denied  out
"""


def table(door: str, text: str) -> dict[Cell, str]:
    """What is expected of each cell; its mark is its number. A point is not asked."""
    head, *rows = [line for line in text.splitlines() if line.strip()]
    roles = head.split()
    found = dict[Cell, str]()
    for number, row in enumerate(rows):
        what, _, place = row[:38].strip().partition(" in ")
        for at, (role, want) in enumerate(zip(roles, row[38:].split(), strict=True)):
            if want != ".":
                found[Cell(door, what, place, role, f"{door}-{number:02}-{at}")] = want
    return found


EXPECTED = {**table("hub", HUB), **table("http", HTTP), **table("bus", BUS)}


def user(cell: Cell) -> str:
    """Whom the record has to name for what comes through this door."""
    match cell.door:
        case "http":
            return USERS.get(cell.role, "")
        case "hub":
            return f"hub:{cell.place}" if cell.place else "hub"
    return cell.what.partition(" as ")[2] or cell.place


class Found:
    """What each cell came to. Everything is asked first, and looked at when all that is to come has come."""

    def __init__(self, house: House) -> None:
        ids = prepared(house, list(EXPECTED))
        self._house = house
        awaited = {cell: want[-1] for cell, want in EXPECTED.items() if want[-1] in "+*!"}
        self.answers = dict[Cell, str]()
        for cell in (one for one in EXPECTED if one.door != "bus"):
            self.answers[cell] = ask(house, cell, ids)
            if cell.what == "ElasticQuotaTree" and cell in awaited:
                self._wait({cell: awaited[cell]})  # the next caller changes the same one, and the hub tells of the last
        said = [one for one in EXPECTED if one.door == "bus"]
        self.answers |= house.own.do(all_tried(house, said, ids))
        self._wait(awaited)
        time.sleep(SETTLED_S)
        self.objects = "".join(house.hub.http.get(path).text for path in lists())

    def _wait(self, awaited: dict[Cell, str]) -> None:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and any(self.effect(cell) != mark for cell, mark in awaited.items()):
            time.sleep(0.1)

    def effect(self, cell: Cell) -> str:
        return effect(self._house, cell, user(cell))

    def outcome(self, cell: Cell) -> str:
        answer = self.answers[cell]
        came = self.effect(cell)
        if answer.startswith("ok") or cell.what.startswith("cancel"):  # of these the job has the mark
            return answer + came
        said = ", and it was said" if self._house.said(cell.mark) else ""
        return answer + came + said + (", and it is on the hub" if cell.mark in self.objects else "")


def lists() -> list[str]:
    return ["/apis/batch/v1/jobs", *(where(kind, "") for kind in SETTINGS)]


@pytest.fixture(scope="module")
def found(own: Own, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    house = House(own, tmp_path_factory.mktemp("matrix"))
    try:
        yield Found(house)
    finally:
        house.stop()


def named(cell: Cell) -> str:
    place = f" in {cell.place}" if cell.place else ""
    return f"{cell.role}-{cell.what}{place}-{cell.door}"


@pytest.mark.parametrize("cell", [pytest.param(one, id=named(one)) for one in EXPECTED])
def test_each_may_do_this_and_no_more(found: Found, cell: Cell) -> None:
    assert found.outcome(cell) == EXPECTED[cell]
