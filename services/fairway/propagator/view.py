"""What the propagator decides on."""

from typing import Protocol

from fairway.domain.events import JobRows

SERVICE = "propagator"


class View(JobRows, Protocol):
    """`reserved` are namespaces in which no job may be, besides those that are the system's everywhere."""

    @property
    def reserved(self) -> frozenset[str]: ...
