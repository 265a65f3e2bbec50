"""The fleet in memory and the builders of lives serve here too."""

import sys
from pathlib import Path

_TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(_TESTS / "spec"), str(_TESTS / "spec" / "services"), str(_TESTS / "scenarios")]
