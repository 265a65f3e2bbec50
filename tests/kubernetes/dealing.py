"""How the tests on real clusters are dealt to the workers: those that share servers of their own stay together, and
those that take longest are begun first.

xdist's `--dist loadgroup` would do the first, but marks its groups in ids that pytest 9.2 does not heed any more: it
dealt every test by itself, and each worker started all the servers.
"""

from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

# By file. What is not named here shares no more than the fleet that all share, and is dealt test by test.
TOGETHER = {
    "test_accounts": "accounts",
    "test_rights": "rights",
    "test_stolen_account": "stolen",
    "test_renewed_join": "renewed",
    "test_trouble": "troubles",
    "test_stalls": "troubles",
    "test_webhooks": "troubles",
    "test_ruling_hub": "troubles",
    "test_handover": "handover",
    "test_settings": "settings",
    "test_settings_tenants": "tenants",
    "test_contract": "servers",
    "test_simulator": "servers",
    "test_status": "servers",
    "test_pod_security": "servers",
    "test_hub_account": "servers",
    "test_callers": "servers",
    "test_matrix": "matrix",
    "test_hub_with_controllers": "servers",
    "test_settings_schemas": "schemas",
}
_FIRST = (
    "test_rights", "test_trouble", "test_stalls", "test_webhooks", "test_ruling_hub", "test_join", "test_handover",
)  # fmt: skip


def turn(stem: str) -> int:
    """The place of a file's tests among all."""
    return _FIRST.index(stem) if stem in _FIRST else len(_FIRST)


class Dealing(LoadScopeScheduling):
    """Groups in the order in which the tests were collected."""

    def schedule(self) -> None:
        self.config.option.loadscopereorder = False
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER.get(Path(nodeid.partition("::")[0]).stem, nodeid)
