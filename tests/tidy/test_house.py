"""The house keeps its rules, and each rule is able to complain."""

from collections.abc import Callable

import pytest

from tests.tidy import rules
from tests.tidy.source import ROOT, Source, packages, paths, sources

Rule = Callable[[Source], list[str]]

PYTHON: list[Rule] = [
    rules.too_long,
    rules.long_functions,
    rules.many_parameters,
    rules.packed_assignments,
    rules.impure_imports,
    rules.bare_suppressions,
]


def _named(rule: Rule) -> str:
    return rule.__name__


@pytest.mark.parametrize("rule", PYTHON, ids=_named)
def test_all_python_keeps_the_rule(rule: Rule) -> None:
    assert [complaint for source in sources(".py") for complaint in rule(source)] == []


def test_scripts_of_the_cache_are_short_too() -> None:
    assert [complaint for source in sources(".lua") for complaint in rules.too_long(source)] == []


def test_no_file_names_a_registry_or_a_path_of_one_machine() -> None:
    assert [complaint for source in sources() for complaint in rules.things_from_elsewhere(source)] == []


def test_every_test_file_asserts_something() -> None:
    tests = [s for s in sources(".py") if s.path.startswith("tests/") and "/test_" in s.path]
    assert [complaint for source in tests for complaint in rules.asserts_nothing(source)] == []


def test_every_package_opens_with_its_charter() -> None:
    without = []
    for package in packages():
        opening = ROOT / package / "__init__.py"
        if package.name != "fairway" and not (opening.exists() and _docstring(opening.read_text())):
            without.append(str(package))
    assert without == []


def test_every_service_says_what_it_owns_hears_says_and_never_does() -> None:
    services = [p.parent for p in paths() if p.name == "decide.py" and "services" in p.parts]
    charters = {home.name: _docstring((home / "__init__.py").read_text()).lower() for home in services}
    words = ("owns", "hears", "says", "never")
    assert {name: w for name, text in charters.items() for w in words if w not in text} == {}


def test_the_name_fairway_stays_open_to_three_roots() -> None:
    assert [p for p in paths() if p.name == "__init__.py" and p.parent.name == "fairway"] == []


def test_there_is_something_to_check() -> None:
    """A wrong folder would make every rule pass."""
    assert {"libs/fairway/adapters", "libs/fairway/domain", "proto/fairway/wire"} <= {str(p) for p in packages()}


def _docstring(text: str) -> str:
    return rules.ast.get_docstring(rules.ast.parse(text)) or ""


def _acting(attributes: int, last: str = "") -> str:
    lines = [*(f"self.x{number} = {number}" for number in range(attributes)), last]
    return "class A:\n    async def __aenter__(self):\n" + "".join(f"        {line}\n" for line in lines)


_VALUE = "class A(Struct):\n" + "".join(f"    x{number}: int\n" for number in range(11))
_SIX = "def f(a, b, c, d, e, g): ...\n"
_FORTY_ONE = "def f():\n" + "    x = 1\n" * 40
_DOMAIN = "libs/fairway/domain/job.py"
_DECIDE = "services/fairway/queue/decide.py"


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        pytest.param(rules.too_long, "a.py", "x = 1\n" * 251, id="a file of 251 lines"),
        pytest.param(rules.long_functions, "a.py", _FORTY_ONE, id="a function of 41 lines"),
        pytest.param(rules.long_functions, "a.py", "async " + _FORTY_ONE, id="an async one"),
        pytest.param(rules.many_parameters, "a.py", "def f(a, b, c, *, d, e, g): ...", id="six parameters"),
        pytest.param(rules.many_parameters, "a.py", "def f(a, b, c, d, *e, **g): ...", id="stars count"),
        pytest.param(rules.many_parameters, "a.py", _SIX + "app.command()(g)", id="another function is the command"),
        pytest.param(rules.many_attributes, "a.py", _acting(11), id="eleven attributes"),
        pytest.param(rules.many_attributes, "a.py", _acting(10, "self.y: int = 1"), id="one that is declared"),
        pytest.param(rules.many_attributes, "a.py", _acting(10, "self.y, z = 1, 2"), id="one of two"),
        pytest.param(rules.many_attributes, "a.py", _acting(10, "def f():\n            self.y = 1"), id="set later"),
        pytest.param(rules.packed_assignments, "a.py", "a, b = 1, 2", id="two at once"),
        pytest.param(rules.packed_assignments, "a.py", "self.a, self.b = a, b", id="attributes at once"),
        pytest.param(rules.packed_assignments, "a.py", "a, b = b + 1, c", id="the first alone is read"),
        pytest.param(rules.impure_imports, _DOMAIN, "import time", id="the domain reads a clock"),
        pytest.param(rules.impure_imports, _DECIDE, "from asyncio import sleep", id="decide waits"),
        pytest.param(rules.impure_imports, _DECIDE, "import redis.asyncio as r", id="decide asks Redis"),
        pytest.param(rules.impure_imports, _DECIDE, "from fairway import runtime", id="decide sees the loop"),
        pytest.param(rules.bare_suppressions, "a.py", "x = 1  # noqa", id="noqa alone"),
        pytest.param(rules.bare_suppressions, "a.py", "x = 1  # noqa: E501", id="noqa without a reason"),
        pytest.param(rules.bare_suppressions, "a.py", "x = 1  # type: ignore[misc]", id="ignore without a reason"),
        pytest.param(rules.asserts_nothing, "tests/test_a.py", "def test_a(): f()", id="no assert"),
        pytest.param(rules.things_from_elsewhere, "a.md", "see /ro" + "ot/x", id="a path of one machine"),
        pytest.param(rules.things_from_elsewhere, "a.cfg", "url=https://py" + "pi.org/", id="a registry"),
    ],
)
def test_the_rule_complains_about(rule: Rule, path: str, text: str) -> None:
    assert len(rule(Source(path, text))) == 1


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        pytest.param(rules.too_long, "a.py", "x = 1\n" * 250, id="250 lines"),
        pytest.param(rules.many_parameters, "a.py", "def f(self, a, b, c, d, e): ...", id="self and five"),
        pytest.param(rules.many_parameters, "a.py", "@app.command()\ndef f(a, b, c, d, e, g): ...", id="options"),
        pytest.param(rules.many_parameters, "a.py", _SIX + "app.command()(f)", id="options, registered later"),
        pytest.param(rules.many_parameters, "a.py", _SIX + "for x in (f,): app.command()(x)", id="in a loop"),
        pytest.param(rules.many_attributes, "a.py", _acting(10), id="ten attributes"),
        pytest.param(rules.many_attributes, "a.py", _acting(10, "self.x1 = self.x2 = 3"), id="set more than once"),
        pytest.param(rules.many_attributes, "a.py", _acting(10, "other.y = self.z"), id="another's, or only read"),
        pytest.param(rules.many_attributes, "a.py", _VALUE, id="the fields of a value"),
        pytest.param(rules.packed_assignments, "a.py", "a, b = b, a", id="an exchange"),
        pytest.param(rules.packed_assignments, "a.py", "x.a, x.b = [], f(x.a)", id="an exchange of attributes"),
        pytest.param(rules.packed_assignments, "a.py", "a, b = f()", id="a result of two"),
        pytest.param(rules.impure_imports, "libs/fairway/adapters/clock.py", "import time", id="an adapter's clock"),
        pytest.param(rules.impure_imports, _DOMAIN, "import timeit, redistribute", id="names that only begin so"),
        pytest.param(rules.bare_suppressions, "a.py", "x = 1  # noqa: E501 - a URL is not cut", id="noqa and why"),
        pytest.param(rules.bare_suppressions, "a.py", "x = '# noqa'", id="a string"),
        pytest.param(rules.asserts_nothing, "tests/test_a.py", "with pytest.raises(E):\n    f()", id="raises"),
        pytest.param(rules.things_from_elsewhere, "a.md", "https://example.org/" + "work/it", id="part of a URL"),
    ],
)
def test_the_rule_accepts(rule: Rule, path: str, text: str) -> None:
    assert rule(Source(path, text)) == []
