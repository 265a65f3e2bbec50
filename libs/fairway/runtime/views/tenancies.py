"""What the jobs of each namespace of the hub may ask for, as its profiles and its labels say."""

from typing import Any

from fairway.domain.tenancy.profile import Profile, Tenancy, tenancy
from fairway.workloads.settings.tenant_profiles import read_tenant_profile

# Namespaces whose tenancy is kept at hand; anybody may write a name into a message.
_KEPT = 10_000


class Tenancies:
    """`namespaces` has the labels of those of the hub that say something of the safety of pods."""

    def __init__(self) -> None:
        self.profiles: dict[str, Profile] = {}
        self.namespaces: dict[str, dict[str, str]] = {}
        self._kept: dict[str, Tenancy] = {}

    def of(self, namespace: str) -> Tenancy:
        known = self._kept.get(namespace)
        if known is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            known = tenancy(namespace, self.namespaces.get(namespace, {}), self.profiles.values())
            self._kept[namespace] = known
        return known

    def profile(self, name: str, manifest: dict[str, Any] | None) -> None:
        """One that does not read leaves the last good one in force: without it, what it bounds would be free."""
        if manifest is not None:
            self.profiles[name] = read_tenant_profile(manifest)
        else:
            self.profiles.pop(name, None)
        self._kept.clear()

    def namespace(self, name: str, manifest: dict[str, Any] | None) -> None:
        self._kept.clear()
        self.namespaces.pop(name, None)
        if manifest is not None:
            self.namespaces[name] = (manifest.get("metadata") or {}).get("labels") or {}
