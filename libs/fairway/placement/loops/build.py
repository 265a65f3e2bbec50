"""`python -m fairway.placement.loops.build`: compiles the loops of placement, once for each version of them; with
`--nice` at the lowest priority, beside services that go on."""

import os
import sys

from fairway.placement.loops import machine_code

if __name__ == "__main__":
    if "--nice" in sys.argv:
        os.nice(19)
    print(f"placement: {machine_code.build()}")
