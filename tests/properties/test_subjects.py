"""Whatever a name is, its subject is one to publish on, and nobody else's."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.domain.names import job_id
from fairway.runtime.ports import Outgoing
from fairway.runtime.record.publishable import unsaid
from fairway.wire import subjects

# Any string at all, halves of surrogate pairs among them, and many of those that nearly are names.
NAMES = (
    st.text(st.characters(exclude_categories=()))
    | st.from_regex(r"[A-Za-z0-9._*> \r\n~-]{0,70}")
    | st.from_regex(r"[a-z0-9]{1,62}[\r\n .]", fullmatch=True)
)
PLACES: dict[str, Callable[[str], str]] = {
    "job": lambda name: subjects.job("submitted", name),
    "inbound": lambda name: subjects.inbound("submit", name),
    "cluster": lambda name: subjects.cluster("report", name),
    "kind": lambda name: subjects.config(name, "n", "n"),
    "namespace": lambda name: subjects.config("Queue", name, "n"),
    "setting": lambda name: subjects.config("Queue", "n", name),
    "letter": subjects.dead_letter,
    "view": lambda name: subjects.view("whole", name),
}


@given(NAMES)
def test_a_token_is_one_word_of_a_subject_and_printable(name: str) -> None:
    token = subjects.token(name)
    assert token.isascii() and token.isprintable() and not set(token) & set(".*> ")
    assert 0 < len(token) <= 63


@given(NAMES, NAMES)
def test_no_two_names_share_a_token(one: str, other: str) -> None:
    assert (subjects.token(one) == subjects.token(other)) is (one == other)


@pytest.mark.parametrize("place", PLACES.values(), ids=list(PLACES))
@given(NAMES, NAMES)
def test_no_two_names_share_a_subject_and_each_can_be_published_on(
    place: Callable[[str], str], one: str, other: str
) -> None:
    assert (place(one) == place(other)) is (one == other)
    assert place(one).count(".") == place("plain").count(".")
    assert unsaid(Outgoing("id", place(one), b""), 1_000) is None


def test_a_name_with_a_line_feed_behind_it_is_not_the_name() -> None:
    assert subjects.token("team-data\n").startswith("~")
    assert subjects.job("submitted", "team-data\n") != subjects.job("submitted", "team-data")
    assert subjects.config("Queue", "", "n") != subjects.config("Queue", "-", "n")


# As the doors take them: a client's id is printable, a tenant that has jobs is the name of a namespace.
CLIENTS = st.text(st.characters(exclude_categories=("C", "Z")), max_size=40) | st.from_regex(
    r"[a-z0-9:/.-]{0,40}", fullmatch=True
)
TENANTS = st.from_regex(r"[a-z0-9-]{1,63}", fullmatch=True)


@given(st.tuples(TENANTS, CLIENTS), st.tuples(TENANTS, CLIENTS))
def test_no_two_clients_share_the_id_of_a_job(one: tuple[str, str], other: tuple[str, str]) -> None:
    """Of one tenant or of two: what ends in one and begins in the other is told apart."""
    whole = "".join(one)
    for tenant, client in (other, *((whole[:at], whole[at:]) for at in range(len(whole) + 1))):
        same = (tenant, client) == one
        assert (job_id(*one, "train") == job_id(tenant, client, "train")) is same
