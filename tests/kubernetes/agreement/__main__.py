"""`python -m tests.kubernetes.agreement SEED [NUMBER ...]`: runs these cases, or the first fifty, and says what came
of them."""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.kubernetes.agreement.cluster import schedulers_cluster
from tests.kubernetes.agreement.disagreements import disagreements, figures
from tests.kubernetes.agreement.drawing import drawn


async def _main(seed: int, numbers: list[int]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        async with schedulers_cluster(Path(folder)) as place:
            outcomes = await place.run([drawn(seed, number) for number in numbers])
    wrong = disagreements(outcomes)
    print("\n".join((*wrong, figures(outcomes))))
    return len(wrong)


if __name__ == "__main__":
    asked = [int(text) for text in sys.argv[1:]]
    sys.exit(bool(asyncio.run(_main(asked[0], asked[1:] or list(range(50))))))
