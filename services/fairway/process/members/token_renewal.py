"""Tokens of joined clusters are renewed long before they end, and the new ones written where all processes see them.

Why tokens with an end, and not the lasting ones that Kubernetes also makes: one that leaks, in a backup or a log, is
worth nothing a day later, and whoever holds it has to come back to be seen. What it costs: when every agent is away for
longer than two thirds of a token's life, the clusters have to be joined again.
"""

import random

import structlog

from fairway.adapters.kubernetes.admin import TokenLife, life_of
from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.kubernetes.kubeconfig import BadKubeconfig, read
from fairway.domain.tenancy.profile import HOME
from fairway.join.secret import SECRET, Joined, kubeconfig_text, read_renewal, renewal_name, token_of, with_token
from fairway.process.members.enrolment import Enrolment
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Clock, Unreachable

log = structlog.get_logger()
_LOOK_S = 60.0
_FIRST = 1 / 3
_SPREAD = 1 / 10


class Renewal:
    """Every process with agents runs one, and no other writes the Secrets of clusters. They begin at different times,
    and the first to renew a token spares the others the work; when two do it at once, one of the two tokens stays, and
    both are good."""

    def __init__(self, enrolment: Enrolment, hub: Cluster, clock: Clock, seed: int) -> None:
        self._enrolment = enrolment
        self._hub = hub
        self._clock = clock
        self._at = _FIRST + random.Random(seed).random() * _SPREAD

    async def run(self) -> None:
        while True:
            await self._clock.sleep(_LOOK_S)
            await self.look()

    async def look(self) -> list[str]:
        """Renews what is due; the names of the clusters that have a new token."""
        return [one.name for one in list(self._enrolment.secrets.values()) if await self._renewed(one)]

    async def _renewed(self, one: Joined) -> bool:
        cluster = self._enrolment.members.get(one.name)
        if one.kubeconfig is None or not isinstance(cluster, KubernetesCluster):
            return False
        try:
            config = read(one.kubeconfig)
            life = life_of(token_of(config))
            if life is None or not self._due(life):
                return False
            token = await self._token(one, cluster, life)
            return await self._written(one, kubeconfig_text(with_token(config, token)))
        except (BadKubeconfig, ClusterRefused, Unreachable) as error:
            log.warning("token not renewed", cluster=one.name, cause=str(error))
            return False

    async def _token(self, one: Joined, cluster: KubernetesCluster, life: TokenLife) -> str:
        """With the account that may ask for it, whose own is renewed too. A cluster that joined before there was one
        asks for itself."""
        seconds = (life.ends - life.begins) // 1000
        where = (SECRET, HOME, renewal_name(one.name))
        found = await self._hub.get(*where)
        if found is None:
            return await cluster.token(life.namespace, life.account, seconds)
        config = read(read_renewal(found))
        account = life_of(token_of(config))
        renewer = await KubernetesCluster.from_kubeconfig(one.name, config, self._enrolment.options("hub"))
        try:
            token = await renewer.token(life.namespace, life.account, seconds)
            if account is not None:
                own = with_token(config, await renewer.token(account.namespace, account.account, seconds))
                await self._hub.patch(*where, {"data": {"kubeconfig": kubeconfig_text(own)}})
        finally:
            await renewer.close()
        return token

    def _due(self, life: TokenLife) -> bool:
        return self._clock.now() > life.begins + self._at * (life.ends - life.begins)

    async def _written(self, one: Joined, text: str) -> bool:
        """Nothing is lost when somebody else was faster: theirs is as good."""
        steps = [
            {"op": "test", "path": "/metadata/resourceVersion", "value": one.version},
            {"op": "add", "path": "/data/kubeconfig", "value": text},
        ]
        return await self._hub.patch(SECRET, HOME, one.secret, steps) is not None
