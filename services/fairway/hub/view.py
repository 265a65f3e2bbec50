"""What the hub service decides on."""

from collections.abc import Mapping
from typing import Protocol

from fairway.domain.events import JobRows
from fairway.domain.tenancy.submission_limits import Limits
from fairway.hub.intake.known_templates import KnownTemplates
from fairway.hub.intake.turns import SubmissionTurns
from fairway.hub.known_objects import KnownObjects
from fairway.hub.schedules.known_schedules import KnownSchedules
from fairway.hub.settings.settings_in_force import SettingsInForce
from fairway.hub.telling.telling import Telling
from fairway.workloads.hub.objects import HubObject, Key


class View(JobRows, Protocol):
    """The hub's objects that are jobs', its settings, what jobs refer to, who is to be submitted, who is to be told,
    and its schedules. `looked` are the settings in hand, by their key."""

    hub_settings: SettingsInForce
    templates: KnownTemplates
    turns: SubmissionTurns
    objects: KnownObjects
    telling: Telling
    schedules: KnownSchedules
    looked: dict[Key, HubObject]

    @property
    def limits(self) -> Mapping[str, Limits]: ...
