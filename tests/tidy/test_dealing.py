"""The tests on real clusters that share servers of their own are dealt to one worker (tests/kubernetes/dealing.py)."""

import importlib.util
import re
from pathlib import Path
from typing import Any

KUBERNETES = Path(__file__).parents[1] / "kubernetes"
# What one file's tests set up for all of them, and the servers of `own`. `fleet` is one for all workers.
SHARED = re.compile(r'(?<!loop_)scope="module"|\bown: Own\b')


def dealing() -> Any:
    spec = importlib.util.spec_from_file_location("dealing", KUBERNETES / "dealing.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_file_whose_tests_share_servers_is_in_a_group_and_no_other() -> None:
    files = KUBERNETES.rglob("test_*.py")
    sharing = {path.stem for path in files if path.parent.name == "troubles" or SHARED.search(path.read_text())}
    assert set(dealing().TOGETHER) == sharing


def test_the_tests_of_a_group_are_one_unit_and_each_other_is_one_by_itself() -> None:
    files = ("test_contract", "test_status", "test_kinds")
    ids = [f"tests/kubernetes/{file}.py::test_it[{number}]" for file in files for number in (1, 2)]
    assert [dealing().Dealing._split_scope(None, one) for one in ids] == ["servers"] * 4 + ids[4:]
