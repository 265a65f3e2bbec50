"""admission: whoever names what is not there is told of what is theirs, and not of what others have."""

from test_admission_allowed import C2, QUEUE, TREES, decided, granted, in_queue, queue, sent
from test_admission_decide import manifest, policy

from fairway.wire.reasons import Code


def test_whoever_names_a_queue_that_is_not_there_is_told_of_those_only_that_are_open_to_them() -> None:
    hub = (TREES, (QUEUE, "vip", queue("vip", "team-b")), (QUEUE, "gold", queue("gold", "team-a")))
    (reason,) = decided(in_queue("none"), *hub).reasons
    assert (reason.code, "gold" in reason.text, "vip" in reason.text) == (Code.UNKNOWN_QUEUE, True, False)


def test_whoever_names_a_cluster_that_is_not_there_is_told_of_their_own_only() -> None:
    unknown = policy(clusterAffinity={"clusterNames": ["c9"]})
    said = decided(manifest(), C2, granted(clusters=["c1"]), policies=sent(unknown))
    assert (said.reasons[0].code, "c1" in said.reasons[0].text, "c2" in said.reasons[0].text) == (
        Code.UNKNOWN_CLUSTER, True, False,
    )  # fmt: skip
