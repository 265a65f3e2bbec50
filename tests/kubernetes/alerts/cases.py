"""Series under which an alert fires, and such under which it does not."""

from msgspec import Struct

_STAGE = "fairway_job_stage_duration_seconds"


class Case(Struct, frozen=True):
    """`series` in promtool's words, a value a minute. At minute `at` those fire that `fires` has labels of."""

    alert: str
    series: dict[str, str]
    at: int
    fires: tuple[dict[str, str], ...] = ()


def _stage(stage: str, bound: str, quick: int, all_of_them: int) -> dict[str, str]:
    """So many jobs a minute in a stage, and so many of them within its bound."""
    return {
        f'{_STAGE}_bucket{{stage="{stage}",le="{bound}"}}': f"0+{quick}x420",
        f'{_STAGE}_bucket{{stage="{stage}",le="+Inf"}}': f"0+{all_of_them}x420",
        f'{_STAGE}_count{{stage="{stage}"}}': f"0+{all_of_them}x420",
    }


def _late(placed_in_time: int) -> dict[str, str]:
    """Of a hundred jobs a minute so many are placed within their part of the second; all else is in time."""
    quick = {**_stage("reserve", "0.25", 100, 100), **_stage("dispatch", "0.5", 100, 100)}
    return {**_stage("place", "0.25", placed_in_time, 100), **quick}


def _histogram(stage: str, slow: int) -> dict[str, str]:
    """Of a hundred jobs a minute so many take between one second and two and a half."""
    name = f'{_STAGE}_bucket{{stage="{stage}"'
    return {
        f'{name},le="1.0"}}': f"0+{100 - slow}x20",
        f'{name},le="2.5"}}': "0+100x20",
        f'{name},le="+Inf"}}': "0+100x20",
    }


_AGE = "fairway_cluster_report_age_seconds"
_GPUS = 'fairway_cluster_allocatable{resource="nvidia.com/gpu",unit="integer"'
_READY = 'fairway_ready{service="queue",instance='
_SUM = 'fairway_rebuild_duration_seconds_sum{service="queue"}'
_COUNT = 'fairway_rebuild_duration_seconds_count{service="queue"}'
_CONFLICTS = 'fairway_conflicts_total{service="queue"}'
_HANDLED = 'fairway_messages_handled_total{service="queue"}'
_TOKEN = 'fairway_member_token_expiry_timestamp_seconds{cluster="c1"}'
_EXPIRED = 'fairway_claims_ended_total{reason="ClaimExpired"}'
_WASTED = 'fairway_evictions_wasted_total{reason="ClaimExpired"}'
_EVICTED = 'fairway_evictions_total{cause="Reclaim"}'
_QUEUE = ({"service": "queue"},)

CASES = {
    "a cluster was not heard of for a minute": Case(
        "AgentSilent",
        {f'{_AGE}{{cluster="c1"}}': "2 62 122", f'{_AGE}{{cluster="c2"}}': "2x3"},
        2,
        ({"cluster": "c1"},),
    ),
    "a cluster was late once": Case("AgentSilent", {f'{_AGE}{{cluster="c1"}}': "2 40 3 3"}, 3),
    "evictions are frozen": Case("MostOfFleetSilent", {'fairway_evictions_frozen{service="watcher"}': "0 1"}, 1, ({},)),
    "evictions are frozen no more": Case(
        "MostOfFleetSilent", {'fairway_evictions_frozen{service="watcher"}': "1 0"}, 1
    ),
    "half of the room is in a silent cluster": Case(
        "CapacityStale",
        {
            f'{_GPUS},cluster="c1"}}': "8x15",
            f'{_GPUS},cluster="c2"}}': "8x15",
            f'{_AGE}{{cluster="c1"}}': "100+60x15",
            f'{_AGE}{{cluster="c2"}}': "5x15",
        },
        12,
        ({"resource": "nvidia.com/gpu", "unit": "integer"},),
    ),
    "a tenth of the room is in a silent cluster": Case(
        "CapacityStale",
        {
            f'{_GPUS},cluster="c1"}}': "1x15",
            f'{_GPUS},cluster="c2"}}': "9x15",
            f'{_AGE}{{cluster="c1"}}': "100+60x15",
            f'{_AGE}{{cluster="c2"}}': "5x15",
        },
        12,
    ),
    "a token has seven hours": Case("TokenExpires", {_TOKEN: "25200x20"}, 15, ({"cluster": "c1"},)),
    "a token has sixteen hours, as after it was renewed": Case("TokenExpires", {_TOKEN: "57600x20"}, 15),
    "the only process of a stage is not ready": Case("StageNotReady", {f'{_READY}"a"}}': "1 1 0 0 0"}, 4, _QUEUE),
    "the only process of a stage is gone": Case("StageNotReady", {f'{_READY}"a"}}': "1 1 stale _ _"}, 4, _QUEUE),
    "one process of a stage stands by": Case("StageNotReady", {f'{_READY}"a"}}': "1x4", f'{_READY}"b"}}': "0x4"}, 4),
    "a stage was not ready for half a minute": Case("StageNotReady", {f'{_READY}"a"}}': "1 1 0 1 1"}, 4),
    "a message waits for minutes": Case(
        "ConsumerLagging",
        {'fairway_consumer_oldest_age_seconds{consumer="queue"}': "0 60 120"},
        2,
        ({"consumer": "queue"},),
    ),
    "messages wait for seconds": Case(
        "ConsumerLagging", {'fairway_consumer_oldest_age_seconds{consumer="queue"}': "3x5"}, 5
    ),
    "two processes take a lease from each other": Case(
        "LeaseFlapping",
        {
            'fairway_lease_changes_total{lease="queue",instance="a"}': "1+1x10",
            'fairway_lease_changes_total{lease="queue",instance="b"}': "0+1x10",
        },
        10,
        ({"lease": "queue"},),
    ),
    "a lease went over once": Case("LeaseFlapping", {'fairway_lease_changes_total{lease="queue"}': "0 0 1x10"}, 10),
    "a letter waits": Case("DeadLetters", {'fairway_dead_letters_waiting{service="queue"}': "0 1x5"}, 5, _QUEUE),
    "a letter came, and nobody counts those that wait": Case(
        "DeadLetters", {'fairway_dead_letters_total{service="queue",reason="Undecodable"}': "0 1x5"}, 5, _QUEUE
    ),
    "letters were there and are no more": Case(
        "DeadLetters", {'fairway_dead_letters_waiting{service="queue"}': "1 0"}, 1
    ),
    "the sweep woke a job": Case("SweepWoke", {'fairway_sweep_wakes_total{service="queue"}': "0 0 1 1"}, 3, _QUEUE),
    "the sweep woke nobody": Case("SweepWoke", {'fairway_sweep_wakes_total{service="queue"}': "0x3"}, 3),
    "more is decided in vain than not": Case(
        "ConflictStorm", {_CONFLICTS: "0+120x15", _HANDLED: "0+60x15"}, 12, _QUEUE
    ),
    "one decision of ten is in vain": Case("ConflictStorm", {_CONFLICTS: "0+120x15", _HANDLED: "0+1200x15"}, 12),
    "nearly nothing is decided, and that in vain": Case(
        "ConflictStorm", {_CONFLICTS: "0+6x15", _HANDLED: "0+3x15"}, 12
    ),
    "a working set took a minute to make": Case("RebuildSlow", {_SUM: "2 2 62 62", _COUNT: "1 1 2 2"}, 3, _QUEUE),
    "a working set took two seconds to make": Case("RebuildSlow", {_SUM: "2 2 4 4", _COUNT: "1 1 2 2"}, 3),
    "nothing was made anew": Case("RebuildSlow", {_SUM: "2x3", _COUNT: "1x3"}, 3),
    "one job of twenty is placed slowly": Case("DispatchSlow", _histogram("place", 5), 15, ({"stage": "place"},)),
    "no job is placed slowly": Case("DispatchSlow", _histogram("place", 0), 15),
    "jobs run for long": Case("DispatchSlow", _histogram("run", 100), 15),
    "a job waits for two days": Case(
        "OldestPending", {'fairway_oldest_pending_seconds{queue="a"}': "172800"}, 0, ({"queue": "a"},)
    ),
    "claims expire": Case("ClaimsExpire", {_EXPIRED: "0x5 1 2 4x20"}, 20, ({},)),
    "one claim expires": Case("ClaimsExpire", {_EXPIRED: "0x5 1x20"}, 20),
    "claims are used": Case("ClaimsExpire", {'fairway_claims_ended_total{reason="Used"}': "0+1x20"}, 20),
    "a job was evicted four times": Case("EvictedOften", {"fairway_evictions_most": "3 4"}, 1, ({},)),
    "a job was evicted three times": Case("EvictedOften", {"fairway_evictions_most": "3 3"}, 1),
    "a fifth of the evictions is in vain": Case("EvictionsWasted", {_WASTED: "0+1x70", _EVICTED: "0+5x70"}, 70, ({},)),
    "a fiftieth of the evictions is in vain": Case("EvictionsWasted", {_WASTED: "0+1x70", _EVICTED: "0+50x70"}, 70),
    "a gang was evicted in vain once": Case("EvictionsWasted", {_WASTED: "0x5 16x65", _EVICTED: "0x5 16x65"}, 34),
    "two evictions in half an hour are in vain": Case(
        "EvictionsWasted", {_WASTED: "0x9 1x14 2x14 3x14 4x14", _EVICTED: "0x9 1x14 2x14 3x14 4x14"}, 65
    ),
    "no eviction is in vain": Case("EvictionsWasted", {_WASTED: "0x70", _EVICTED: "0+5x70"}, 70),
    "a job waits for an hour": Case("OldestPending", {'fairway_oldest_pending_seconds{queue="a"}': "3600"}, 0),
    "two requests a second come with a token that is none": Case(
        "AuthFailures", {'fairway_authn_failures_total{reason="token"}': "0+120x15"}, 12, ({"reason": "token"},)
    ),
    "a token had ended": Case("AuthFailures", {'fairway_authn_failures_total{reason="token"}': "0 1x15"}, 12),
    "a fifth of an hour's jobs is late": Case("DispatchBudgetBurnsFast", _late(80), 70, ({},)),
    "a tenth of an hour's jobs is late": Case("DispatchBudgetBurnsFast", _late(90), 70),
    "a tenth of six hours' jobs is late": Case("DispatchBudgetBurnsSlowly", _late(90), 370, ({},)),
    "one in a hundred jobs is late": Case("DispatchBudgetBurnsSlowly", _late(99), 370),
    "no job was dispatched": Case("DispatchBudgetBurnsFast", _stage("place", "0.25", 0, 0), 70),
}
