"""In which order those are taken that may go: of several that would each be enough, the first of that order goes."""

from tests.spec.kueue.decided import Case, Runs
from tests.spec.kueue.trees import fleet, queue

# Nothing is guaranteed to anybody, so that no level decides.
_PREEMPTOR = fleet(queue("preemptor"), cpu=2)
_BESIDE = fleet(queue("preemptor", 2), queue("other"))
_COMES = Runs("preemptor", 1, 11)

CASES = {
    "workloads sorted by priority": Case(
        _PREEMPTOR, {"high": Runs("preemptor", 1, 10), "low": Runs("preemptor", 1, -10)}, _COMES, "low"
    ),
    # Who leaves already is no new victim: nobody else has to go.
    "evicted workload first": Case(
        _PREEMPTOR, {"other": Runs("preemptor", 1, -10), "evicted": Runs("preemptor", 1, 10, leaves=True)}, _COMES
    ),
    "workload from different CQ first": Case(
        _BESIDE, {"preemptorCq": Runs("preemptor", 1, 10), "other": Runs("other", 1, 10)}, _COMES, "other"
    ),
    "old workloads last": Case(
        fleet(queue("preemptor"), cpu=3),
        {name: Runs("preemptor", 1) for name in ("younger", "current", "older")},
        _COMES,
        "younger",
    ),
    "workloads with higher LQ usage first": Case(
        _PREEMPTOR,
        {"mid_lq_usage": Runs("preemptor", 1, 10), "low_lq_usage": Runs("preemptor", 1, 1)},
        _COMES,
        "mid_lq_usage",
    ),
    "workloads from different CQ are sorted based on priority and timestamp": Case(
        _BESIDE,
        {"mid_lq_usage": Runs("preemptor", 1, 10), "high_lq_usage_different_cq": Runs("other", 1, 1)},
        _COMES,
        "high_lq_usage_different_cq",
    ),
}
