"""The rules of the house that a machine can check. Each takes a file and returns complaints, none when it is fine."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tests.tidy.source import Source

FILE_LINES = 250
FUNCTION_LINES = 40
PARAMETERS = 5
ATTRIBUTES = 10

_PURE_PACKAGES = re.compile(r"^(proto/fairway/wire|libs/fairway/(domain|placement|workloads))/")
_PURE_FILES = re.compile(r"^services/fairway/\w+/decide\.py$")
_IMPURE = (
    *("asyncio", "random", "secrets", "time"),
    *("nats", "redis", "kubernetes_asyncio", "aiohttp", "faststream"),
    *("fairway.runtime", "fairway.adapters"),
)
_SUPPRESSION = re.compile(r"#\s*(?:ruff:\s*)?(noqa|type:\s*ignore|mypy:|pragma:)")
# A code in every case, and words after it: `noqa: E501 - why`, `type: ignore[arg-type]  # why`.
_REASONED = re.compile(r"noqa:\s*[A-Z]+\d+(,\s*[A-Z]+\d+)*\s*[-#]\s*\w+\s\w+|ignore\[[\w, -]+\]\s*#\s*\w+\s\w+")

# Written in pieces, so that this file does not hold what it forbids.
_ELSEWHERE = [
    re.compile("|".join(("pypi" + r"\.org", "python" + r"hosted\.org", "registry" + r"\.npmjs\.org"))),
    re.compile(r"(?<![\w.:~-])/(work|root|Users)" + r"/\w"),
]
_HOME = re.compile(r"(?<![\w.:~-])/home" + r"/\w")


def too_long(source: Source) -> list[str]:
    if source.lines <= FILE_LINES:
        return []
    return [f"{source.path}: {source.lines} lines, at most {FILE_LINES}"]


def long_functions(source: Source) -> list[str]:
    return [
        f"{source.path}:{f.lineno}: {f.name} has {size} lines, at most {FUNCTION_LINES}"
        for f in source.functions()
        if (size := (f.end_lineno or f.lineno) - f.lineno + 1) > FUNCTION_LINES
    ]


def many_parameters(source: Source) -> list[str]:
    registered = _registered(source.tree)
    return [
        f"{source.path}:{f.lineno}: {f.name} has {count} parameters, at most {PARAMETERS}"
        for f in source.functions()
        if not (_is_command(f) or f.name in registered) and (count := _parameters(f)) > PARAMETERS
    ]


def many_attributes(source: Source) -> list[str]:
    """Those that methods set on `self`, by name: the fields of a value are declared, and do not count."""
    classes = (node for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef))
    counts = ((one.name, len({name for member in one.body for name in _set_on_self(member)})) for one in classes)
    return [
        f"{source.path}:{name} sets {count} attributes, at most {ATTRIBUTES}"
        for name, count in counts
        if count > ATTRIBUTES
    ]


def packed_assignments(source: Source) -> list[str]:
    """`a, b = 1, 2`: a line says one thing. In an exchange a value reads what stands before its own."""
    return [
        f"{source.path}:{node.lineno}: one assignment a line: {ast.unparse(node)}"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign)
        and isinstance(targets := node.targets[0], ast.Tuple)
        and isinstance(values := node.value, ast.Tuple)
        and not any(isinstance(one, ast.Starred) for one in (*targets.elts, *values.elts))
        and not _exchanged(targets.elts, values.elts)
    ]


def impure_imports(source: Source) -> list[str]:
    if not (_PURE_PACKAGES.match(source.path) or _PURE_FILES.match(source.path)):
        return []
    return [
        f"{source.path}:{line}: imports {name}; pure code takes what it needs as an argument"
        for line, name in _imports(source.tree)
        if any(name == banned or name.startswith(f"{banned}.") for banned in _IMPURE)
    ]


def bare_suppressions(source: Source) -> list[str]:
    """Comments only: a string that mentions a suppression is none."""
    tokens = tokenize.generate_tokens(io.StringIO(source.text).readline)
    return [
        f"{source.path}:{t.start[0]}: suppression without a code and a reason: {t.string}"
        for t in tokens
        if t.type == tokenize.COMMENT and _SUPPRESSION.search(t.string) and not _REASONED.search(t.string)
    ]


def asserts_nothing(source: Source) -> list[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Assert) or _calls(node) in {"raises", "fail", "warns"}:
            return []
    return [f"{source.path}: a test file that asserts nothing cannot fail"]


def things_from_elsewhere(source: Source) -> list[str]:
    """Hosts of package registries and paths of somebody's machine. Manifests may name a /home in their image."""
    patterns = _ELSEWHERE if source.path.endswith((".yaml", ".yml")) else [*_ELSEWHERE, _HOME]
    return [
        f"{source.path}:{number}: {found.group()} belongs to one machine or one mirror"
        for number, line in enumerate(source.text.splitlines(), 1)
        for pattern in patterns
        if (found := pattern.search(line))
    ]


def _exchanged(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    read = [{ast.unparse(part) for part in ast.walk(value) if isinstance(part, ast.expr)} for value in values]
    return any(ast.unparse(target) in later for at, target in enumerate(targets) for later in read[at + 1 :])


def _set_on_self(member: ast.stmt) -> Iterator[str]:
    if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
        for node in ast.walk(member):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value):
                yield node.attr


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    a = function.args
    names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if p is not None]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def _is_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    # What a command line takes is its options: their number is the user's business, not the caller's.
    return any(_calls(d) in {"command", "callback"} for d in function.decorator_list)


def _registered(tree: ast.Module) -> set[str]:
    """Functions made a command by `app.command()(name)`, alone or in a loop over their names."""
    loops = {
        node.target.id: {one.id for one in ast.walk(node.iter) if isinstance(one, ast.Name)}
        for node in ast.walk(tree)
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name)
    }
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _calls(node.func) == "command")
    given = {arg.id for call in calls for arg in call.args if isinstance(arg, ast.Name)}
    return given.union(*(names for loop, names in loops.items() if loop in given))


def _calls(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    target = node.func
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
