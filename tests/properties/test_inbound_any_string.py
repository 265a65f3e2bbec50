"""Whatever a tenant calls itself, its namespace, its job or its message: it is heard, and answered where it can be."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from fairway.admission.understand import understand
from fairway.domain.decision import Heard
from fairway.domain.submission import as_said
from fairway.inbound.decide import decide
from fairway.inbound.service import InboundMemory, service
from fairway.runtime.views.settings import Catalog
from fairway.wire import inbound, subjects
from fairway.wire import jobs as wire

_ODD = ["team-a", "team-a\n", "team.a", "*", ">", "~abc", "", " ", "\x00", "ß"]
_NAMES = st.text(max_size=70) | st.sampled_from(_ODD)
# What a server takes as a token: no dot, no blank, no wildcard.
_TOKENS = _NAMES.map(lambda name: name.translate(dict.fromkeys(map(ord, "*>. \t\r\n\f\x00"), "")) or "x")
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=8,
)
_PLAIN = subjects.token
encode = msgspec.json.Encoder().encode


def heard(subject: str, message: Any, name: str) -> Heard:
    """As it comes from the bus: encoded, and decoded by the service."""
    data = encode(message)
    decoded = service(Catalog()).consumers[0].decoder.decode(data)
    return Heard(name, decoded, 7, 50, size=len(data), subject=subject)


def said(one: Heard) -> Any:
    view = InboundMemory(Catalog())
    view.wants([one], 5)
    (step,) = decide(view, one, 5).steps
    (say,) = step.events
    tokens = say.subject.split(".")
    assert all(tokens) and not set(say.subject) & set(" \t\r\n*>"), "a subject that the bus takes"
    assert say.id.isalnum() and say.id.isascii()
    encode(say.message)
    return say.message


@given(st.one_of(_NAMES.map(_PLAIN), _TOKENS), _NAMES, _NAMES, _VALUES, _NAMES)
def test_any_submission(token: str, namespace: str, name: str, more: Any, client: str) -> None:
    manifest = {"kind": more, "metadata": {"namespace": namespace, "name": name, "labels": more}}
    request = inbound.SubmitRequest(manifest=msgspec.Raw(encode(manifest)), client=client)
    message = said(heard(f"fairway.in.{token}.submit", request, name or "m"))
    if isinstance(message, wire.Submitted):
        assert subjects.token(message.tenant) == token, "for nobody but the tenant of the subject"
        assert as_said(message).tenant == message.tenant
        seen = understand(message, "m", 7, Catalog())
        assert seen.tenant == message.tenant and seen.client.startswith(f"{message.tenant}/")


@given(st.one_of(_NAMES.map(_PLAIN), _TOKENS), _VALUES)
def test_any_value_as_a_manifest(token: str, value: Any) -> None:
    request = inbound.SubmitRequest(manifest=msgspec.Raw(encode(value)), policies=(msgspec.Raw(encode(value)),))
    message = said(heard(f"fairway.in.{token}.submit", request, "m"))
    if isinstance(message, wire.Submitted):
        assert understand(message, "m", 7, Catalog()).spec is None


@given(_TOKENS, _NAMES)
def test_any_cancellation(token: str, job: str) -> None:
    letter = said(heard(f"fairway.in.{token}.cancel", inbound.CancelRequest(job=job), job or "m"))
    assert letter.verb == "dlq"
