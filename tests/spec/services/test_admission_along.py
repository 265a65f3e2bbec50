"""admission: how large the policies may be that come along with a job."""

from test_admission_allowed import decided, sent
from test_admission_decide import manifest, policy

from fairway.wire import jobs as wire
from fairway.wire.reasons import Code


def test_policies_that_come_along_are_no_larger_than_the_hub_would_take_them() -> None:
    large = policy()
    large["spec"]["placement"] = {"clusterAffinity": {"clusterNames": ["c1"] * 5_001}}
    many = [policy(f"p{number}") for number in range(101)]
    wide = policy()
    wide["metadata"]["annotations"] = {"note": "x" * 2**18}
    for along, field in (((large,), "policies[0].spec"), (many, "policies"), ((wide,), "policies")):
        said = decided(manifest(), policies=sent(*along))
        assert isinstance(said, wire.Rejected)
        assert (said.reasons[0].code, said.reasons[0].field) == (Code.TOO_LARGE, field)
        assert said.reasons[0].remedy


def test_what_the_hub_sent_along_is_taken_as_it_was_taken_there() -> None:
    large = policy()
    large["spec"]["placement"] = {"clusterAffinity": {"exclude": ["c9"] * 5_001}}
    hub = wire.HubRef("u", "jobs")
    assert isinstance(decided(manifest(), policies=sent(large), hub=hub), wire.Admitted)
