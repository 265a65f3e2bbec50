"""How tests are dealt to the workers: those that share servers of their own stay together, and those that take longest
are begun first.

xdist's `--dist loadgroup` would do the first, but marks its groups in ids that pytest 9.2 does not heed any more: it
dealt every test by itself, and each worker started all the servers.
"""

from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

# By file. What is not named here shares no more than what is one for a worker or for all, and is dealt test by test.
TOGETHER = {
    "contract/rights/test_bus_rights": "bus-rights",
    "contract/rights/test_store_rights": "store-rights",
    "end_to_end/test_cli": "commands",
    "end_to_end/test_up": "up",
    "tidy/test_wheel": "wheel",
    "kubernetes/agreement/test_agreement": "agreement",
    "kubernetes/evictions/test_guarantee": "evictions",
    "kubernetes/evictions/test_leaving": "evictions",
    "kubernetes/evictions/test_notice": "evictions",
    "kubernetes/evictions/test_priority": "evictions",
    "kubernetes/evictions/test_unmet_guarantee": "evictions",
    "kubernetes/hub/test_held": "held",
    "kubernetes/hub/test_killed": "hub",
    "kubernetes/hub/test_reasons": "hub",
    "kubernetes/hub/test_settings": "hub",
    "kubernetes/idle/test_pods": "idle",
    "kubernetes/idle/test_real_use": "idle",
    "kubernetes/idle/test_spark_demand": "idle",
    "kubernetes/idle/test_spark_webhook": "idle",
    "kubernetes/idle/test_two_members": "two-members",
    "kubernetes/join/test_join": "join",
    "kubernetes/matrix/test_accounts": "accounts",
    "kubernetes/rights/test_rights": "rights",
    "kubernetes/rights/test_stolen_account": "stolen",
    "kubernetes/troubles/test_trouble": "troubles",
    "kubernetes/troubles/test_stalls": "troubles",
    "kubernetes/troubles/test_webhooks": "troubles",
    "kubernetes/troubles/test_ruling_hub": "troubles",
    "kubernetes/troubles/test_schedules_of_the_hub": "troubles",
    "kubernetes/room/test_handover": "handover",
    "kubernetes/settings/test_settings": "settings",
    "kubernetes/settings/test_tenants": "settings",
    "kubernetes/simulator/test_contract": "servers",
    "kubernetes/simulator/test_simulator": "servers",
    "kubernetes/simulator/test_tables": "settings",
    "kubernetes/test_status": "servers",
    "kubernetes/test_single_pods": "servers",
    "kubernetes/pods/test_pod_security": "servers",
    "kubernetes/rights/test_hub_account": "servers",
    "kubernetes/matrix/test_callers": "servers",
    "kubernetes/matrix/test_matrix": "matrix",
    "kubernetes/test_hub_with_controllers": "servers",
    "kubernetes/settings/test_schemas": "schemas",
}
_FIRST = (
    "test_kill",
    "test_killed",
    "test_cli",
    "test_up",
    "test_rights",
    "test_trouble",
    "test_stalls",
    "test_webhooks",
    "test_ruling_hub",
    "test_matrix",
    "test_agreement",
    "test_join",
    "test_two_members",
    "test_handover",
    "test_renewed_join",
    "test_stolen_account",
)


def turn(path: Path) -> int:
    """The place of a file's tests among all of its folder."""
    return _FIRST.index(path.stem) if path.stem in _FIRST else len(_FIRST)


def group(nodeid: str) -> str:
    """The tests of tests/spec are too short to be dealt one by one, and those of the house all read every file: a file
    of them is a group."""
    file = nodeid.partition("::")[0].removeprefix("tests/").removesuffix(".py")
    return TOGETHER.get(file, file if file.startswith(("spec/", "tidy/test_house")) else nodeid)


class Dealing(LoadScopeScheduling):
    """Groups in the order in which the tests were collected."""

    def schedule(self) -> None:
        self.config.option.loadscopereorder = False
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)
