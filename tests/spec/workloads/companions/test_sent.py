"""What a companion is in a member, and what is written where one is there already."""

from typing import Any

import msgspec
import pytest

from fairway.workloads.companions import sent
from fairway.workloads.companions.named import ACCOUNT, CLAIM, CONFIG_MAP, SECRET, Named, pull_secrets
from fairway.workloads.seal import SEAL, Spot

Json = dict[str, Any]
KEY = b"the key"
OWNER = sent.owned_by(CONFIG_MAP, "fairway-llm-1", "u-1")
TRACES: Json = {
    "name": "x",
    "namespace": "team-a",
    "uid": "h-1",
    "resourceVersion": "41",
    "generation": 2,
    "labels": {"app": "x", "workflows.argoproj.io/configmap-type": "Parameter"},
    "annotations": {"kubectl.kubernetes.io/last-applied-configuration": '{"data":{"password":"czNjcjN0"}}'},
    "finalizers": ["a/b"],
    "ownerReferences": [{"uid": "h-0"}],
    "managedFields": [{}],
}


def on_hub(**content: Any) -> Json:
    return {"apiVersion": "v1", "kind": "any", "metadata": TRACES, **content}


def spot(kind: str, cluster: str = "c1") -> Spot:
    return Spot(cluster, kind, "team-a", "x")


def there(kind: str, **content: Any) -> Json:
    """As one that Fairway put there is found."""
    made = sent.companion(KEY, spot(kind), on_hub(**content), OWNER)
    return {**made, "metadata": {**made["metadata"], "uid": "m-1", "resourceVersion": "7"}}


CONTENTS = [
    pytest.param(CONFIG_MAP, {"data": {"a": "1"}, "binaryData": {"b": "MQ=="}, "immutable": True}, {}, id="ConfigMap"),
    pytest.param(SECRET, {"type": "Opaque", "data": {"password": "czNjcjN0"}}, {}, id="Secret"),
    pytest.param(
        ACCOUNT,
        {"imagePullSecrets": [{"name": "p"}]},
        {"secrets": [{"name": "token"}], "automountServiceAccountToken": True},
        id="ServiceAccount",
    ),
    pytest.param(
        CLAIM, {"spec": {"accessModes": ["ReadWriteOnce"]}}, {"status": {"phase": "Bound"}}, id="PersistentVolumeClaim"
    ),
]


@pytest.mark.parametrize(("kind", "goes", "stays"), CONTENTS)
def test_its_content_goes_along_and_no_trace_of_the_hub(kind: str, goes: Json, stays: Json) -> None:
    made = sent.companion(KEY, spot(kind), on_hub(**goes, **stays), OWNER)
    meta = made.pop("metadata")
    also = {"automountServiceAccountToken": False} if kind == ACCOUNT else {}
    assert made == goes | also
    kept = {"workflows.argoproj.io/configmap-type": "Parameter"} if kind == CONFIG_MAP else {}
    assert meta["labels"] == {**kept, "fairway.io/managed": "true", "fairway.io/companion": "true"}
    assert meta["ownerReferences"] == [OWNER]
    assert set(meta) == {"name", "namespace", "labels", "annotations", "ownerReferences"}
    assert set(meta["annotations"]) == {SEAL}


def test_of_a_claim_its_volume_stays() -> None:
    made = sent.companion(KEY, spot(CLAIM), on_hub(spec={"volumeName": "pv-7", "storageClassName": "fast"}), OWNER)
    assert made["spec"] == {"storageClassName": "fast"}


@pytest.mark.parametrize("kind", ["kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"])
def test_tokens_go_nowhere(kind: str) -> None:
    why = sent.never(on_hub(type=kind), Named(SECRET, "x"))
    assert why is not None and (why.code, kind in why.text) == ("CompanionRefused", True)
    assert sent.never(on_hub(type="Opaque"), Named(SECRET, "x")) is None


@pytest.mark.parametrize("kind", [CONFIG_MAP, SECRET])
def test_the_record_has_a_digest_of_it_and_no_word_in_it(kind: str) -> None:
    found = on_hub(data={"password": "czNjcjN0"})
    told = sent.told(KEY, kind, found)
    assert (told.kind, told.name, told.uid, told.version) == (kind.partition(".")[0], "x", "h-1", "41")
    assert len(told.digest) == 64
    assert b"czNjcjN0" not in msgspec.json.encode(told)
    assert told.digest != sent.told(KEY, kind, on_hub(data={"password": "b3RoZXI="})).digest


def test_of_a_secret_nobody_works_the_digest_out_without_the_key() -> None:
    found = on_hub(data={"password": "MTIzNA=="})
    of = {kind: {sent.told(key, kind, found).digest for key in (KEY, b"another")} for kind in (CONFIG_MAP, SECRET)}
    assert {kind: len(digests) for kind, digests in of.items()} == {CONFIG_MAP: 1, SECRET: 2}


def test_it_is_known_by_its_seal_at_its_own_place_alone() -> None:
    made = there(SECRET, data={})
    assert sent.ours(KEY, spot(SECRET), made)
    assert not sent.ours(b"another", spot(SECRET), made)
    assert not sent.ours(KEY, spot(SECRET, "c2"), made)
    assert not sent.ours(KEY, spot(CONFIG_MAP), made)
    bare = {**made, "metadata": {**made["metadata"], "annotations": {}}}
    assert not sent.ours(KEY, spot(SECRET), bare)


@pytest.mark.parametrize("kind", [CONFIG_MAP, SECRET])
def test_what_counts_now_takes_the_place_of_what_counted_and_owners_are_added(kind: str) -> None:
    old = there(kind, data={"a": "1", "b": "2"})
    other = sent.owned_by(CONFIG_MAP, "fairway-next-1", "u-2")
    new = sent.companion(KEY, spot(kind), on_hub(data={"a": "3"}), other)
    patch = sent.replaced(kind, old, new)
    assert patch["data"] == {"a": "3", "b": None}
    meta = patch["metadata"]
    assert (meta["uid"], meta["resourceVersion"], meta["ownerReferences"]) == ("m-1", "7", [OWNER, other])
    again = sent.replaced(kind, {**new, "metadata": {**old["metadata"], **new["metadata"]}}, new)
    assert again["metadata"]["ownerReferences"] == [other]


def test_a_claim_that_is_there_gets_an_owner_and_nothing_else() -> None:
    new = sent.companion(KEY, spot(CLAIM), on_hub(spec={"storageClassName": "other"}), OWNER)
    assert set(sent.replaced(CLAIM, there(CLAIM, spec={"storageClassName": "fast"}), new)) == {"metadata"}


@pytest.mark.parametrize(
    ("kind", "was", "now", "want"),
    [
        pytest.param(CONFIG_MAP, {"data": {"a": "1"}}, {"data": {"a": "2"}}, False, id="what may change"),
        pytest.param(
            CONFIG_MAP, {"data": {"a": "1"}, "immutable": True}, {"data": {"a": "2"}, "immutable": True}, True,
            id="what is immutable and another one on the hub",
        ),
        pytest.param(
            CONFIG_MAP, {"data": {"a": "1"}, "immutable": True}, {"data": {"a": "1"}, "immutable": True}, False,
            id="what is immutable and the same",
        ),
        pytest.param(SECRET, {"type": "Opaque"}, {"type": "kubernetes.io/tls"}, True, id="a Secret of another type"),
        pytest.param(CLAIM, {"spec": {"a": 1}}, {"spec": {"a": 2}}, False, id="a claim, whose volume is there"),
    ],
)  # fmt: skip
def test_only_another_object_can_take_the_place_of(kind: str, was: Json, now: Json, want: bool) -> None:
    new = sent.companion(KEY, spot(kind), on_hub(**now), OWNER)
    assert sent.fixed(kind, there(kind, **was), new) is want


def test_an_account_names_the_secrets_that_it_pulls_with() -> None:
    account = on_hub(imagePullSecrets=[{"name": "p"}, {"name": "NO"}, {}])
    assert list(pull_secrets(account)) == [Named(SECRET, "p")]


def test_the_anchor_is_the_attempts_and_says_so_under_a_name_that_follows_from_it() -> None:
    made = sent.anchor(KEY, "c1", "team-a", ("llm-1", 2))
    meta = made["metadata"]
    assert (meta["name"], meta["namespace"]) == ("fairway-llm-1-2", "team-a")
    assert (meta["labels"]["fairway.io/job"], meta["labels"]["fairway.io/attempt"]) == ("llm-1", "2")
    assert set(made) == {"metadata"}
    assert sent.ours(KEY, Spot("c1", CONFIG_MAP, "team-a", "fairway-llm-1-2"), made)
