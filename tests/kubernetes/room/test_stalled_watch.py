"""Room that is held in a real member while nothing comes through the watches of the propagator."""

import pytest
from msgspec.structs import replace

from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.control_plane import member, planes
from fairway.wire.capacity import PLACEHOLDERS
from tests.kubernetes.room.held_room import held_whole
from tests.kubernetes.room.holding import dir_of, ground
from tests.kubernetes.troubles.meddler import Meddler

pytestmark = pytest.mark.asyncio


async def test_room_is_found_to_be_held_though_no_watch_says_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Without asking the member itself it would look as if its scheduler gave none."""
    async with (
        planes(dir_of(tmp_path_factory), [member("behind")], tools(("kube", "kwok"))) as found,
        ground(found["behind"], "behind", 3) as place,
        Meddler(found["behind"].kubeconfig) as meddler,
    ):
        cluster = await KubernetesCluster.from_kubeconfig("m", meddler.kubeconfig, Options())
        try:
            rooms = place.rooms(cluster)
            first = place.room(PLACEHOLDERS)
            await held_whole(rooms, first)
            await rooms.release("m", first)
            meddler.stall()
            second = replace(first, attempt=2)
            await held_whole(rooms, second)
            assert len(await place.held(second)) == len(place.nodes)
        finally:
            await cluster.close()
