"""What tenants say on the bus, on `fairway.in.<tenant>.<verb>`. The tenant is that of the subject, for who may publish
there is its tenant; nothing in a message says who speaks."""

from typing import ClassVar

from msgspec import Raw, Struct


class InboundMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """`at` is in milliseconds since 1970, and only told, never relied on."""

    at: int = 0

    verb: ClassVar[str] = ""


class SubmitRequest(InboundMessage, frozen=True, kw_only=True, tag="submit_request"):
    """Take this job, under the policies of its namespace that come along. The same `client` id with the same manifest
    is the same job; without one the id of the message stands for it. At most 1 MiB in all."""

    verb = "submit"
    manifest: Raw
    policies: tuple[Raw, ...] = ()
    client: str = ""


class CancelRequest(InboundMessage, frozen=True, kw_only=True, tag="cancel_request"):
    """End this job of the tenant, wherever it is."""

    verb = "cancel"
    job: str


Message = SubmitRequest | CancelRequest
