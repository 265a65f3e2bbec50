"""For the benchmark of the pipeline alone: services whose clusters take everything at once and show nothing.

`python -m fairway.lab.fleet.stub_clusters run SERVICE... --announce` is `fairway run` with them.
"""

import sys

import msgspec
import uvloop

from fairway.domain.decision import Call, Outcome
from fairway.process import main as process
from fairway.process.log import configure
from fairway.process.settings import from_environment
from fairway.runtime.cluster_port import Applied


async def stub_act(call: Call) -> Outcome:
    """Applied and deleted without a cluster; the propagator decides on it as on any other outcome."""
    return Outcome(call, True, body=Applied(uid=call.job) if call.verb == "apply" else True)


def main(names: list[str]) -> None:
    def ready(facts: dict[str, object]) -> None:
        print(msgspec.json.encode(facts).decode(), flush=True)

    configure()
    uvloop.run(process.run(names, from_environment(), ready, stub_act))


if __name__ == "__main__":
    main([one for one in sys.argv[2:] if not one.startswith("--")])
