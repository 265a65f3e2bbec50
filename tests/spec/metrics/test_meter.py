"""What an operator can watch before anything has happened."""

from prometheus_client import generate_latest

from fairway.queue.service import service
from fairway.runtime.metrics import Meter
from fairway.runtime.views.settings import Catalog
from fairway.wire.reasons import Code


def scraped(meter: Meter) -> set[str]:
    return {line for line in generate_latest(meter.registry).decode().splitlines() if not line.startswith("#")}


def test_readiness_is_asked_at_every_scrape() -> None:
    meter = Meter()
    answers = iter((False, True))
    meter.follow("queue", lambda: next(answers))
    assert 'fairway_ready{service="queue"} 0.0' in scraped(meter)
    assert 'fairway_ready{service="queue"} 1.0' in scraped(meter)


def test_what_must_stay_zero_is_shown_as_zero() -> None:
    meter = Meter()
    meter.follow("queue", lambda: True)
    service(Catalog(), meter, [])
    wanted = {f'fairway_{name}_total{{service="queue"}} 0.0' for name in ("sweep_wakes", "conflicts")}
    for reason in ("Undecodable", "HandlerFailed"):
        wanted.add(f'fairway_dead_letters_total{{reason="{reason}",service="queue"}} 0.0')
    assert wanted <= scraped(meter)


def test_dead_letters_are_counted_by_reason_and_those_that_wait_by_service() -> None:
    meter = Meter()
    meter.dead_letter("quota", Code.UNDECODABLE)
    meter.letters({"quota": 2, "gateway": 1})
    meter.letters({"quota": 1})
    shown = scraped(meter)
    assert 'fairway_dead_letters_total{reason="Undecodable",service="quota"} 1.0' in shown
    assert {line for line in shown if line.startswith("fairway_dead_letters_waiting{")} == {
        'fairway_dead_letters_waiting{service="quota"} 1.0'
    }
