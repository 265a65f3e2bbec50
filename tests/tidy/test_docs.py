"""docs/operations.md names every setting, metric and exit code that the code has, and no others; what
docs/joining-clusters.md tells a reader to type is there."""

import re
from collections import Counter

from typer.main import get_command

from fairway.cli.main import app
from fairway.client import failure
from fairway.domain.quota import node_terms
from fairway.domain.quota.node_terms import FLEET
from fairway.lab.documents import metrics
from fairway.queue.service import service
from fairway.runtime.metrics import Meter
from fairway.runtime.metrics.families import BY_NAME, LIBRARY_FAMILIES
from fairway.runtime.views.settings import Catalog
from fairway.wire.reasons import Code
from fairway.workloads.reading.parse import parse_documents
from fairway.workloads.settings.field_effects import unknown_fields, without_effect
from fairway.workloads.settings.priority_classes import read_priority_class
from fairway.workloads.settings.quota_trees import read_quota_tree
from tests.tidy.source import ROOT, sources

PAGE = (ROOT / "docs/operations.md").read_text()
JOINING = (ROOT / "docs/joining-clusters.md").read_text()
QUOTAS = (ROOT / "docs/quota-and-queues.md").read_text()
_MANIFESTS = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_every_setting_is_documented_and_every_documented_one_is_read() -> None:
    reader = (ROOT / "services/fairway/process/settings.py").read_text()
    read = {f"FAIRWAY_{name}" for name in re.findall(r'text\("(\w+)"', reader)}
    asked = {n for s in sources(".py") for n in re.findall(r'"(FAIRWAY_[A-Z_]+)"', s.text) if s.path.startswith("serv")}
    assert read | asked == set(re.findall(r"FAIRWAY_[A-Z_]+", PAGE))


def test_the_table_of_metrics_is_what_the_code_says() -> None:
    """What is not in the table of families cannot be told: the collector looks each name up there."""
    there = (ROOT / metrics.PAGE).read_text("utf-8")
    assert there == metrics.page(ROOT), f"{metrics.PAGE} is out of date; write it anew with: make schemas"


def test_the_counters_of_the_library_are_those_of_the_table() -> None:
    meter = Meter()
    meter.follow("queue", lambda: True)
    service(Catalog(), meter, [])
    meter.refused(Code.INVALID)
    meter.batch("queue", 1, 0, 1, meter.start())
    meter.dead_letter("queue", Code.INVALID)
    meter.letters({"queue": 1})
    meter.frozen.labels("watcher").set(0)
    found = {}
    for one in meter.registry.collect():
        labels = {name for sample in one.samples for name in sample.labels} - {"le"}
        found[one.name + "_total" * (one.type == "counter")] = (one.type, labels, one.documentation)
    told = {one.name: (one.kind, {*one.labels}, one.text) for one in LIBRARY_FAMILIES}
    assert {name: found[name] for name in found if name not in BY_NAME} == told


def test_every_metric_that_a_page_names_is_one() -> None:
    known = {*BY_NAME, *(one.name for one in LIBRARY_FAMILIES)}
    for path in ("docs/operations.md", "docs/metrics.md", "docs/reliability.md"):
        assert set(re.findall(r"fairway_[a-z_]+", (ROOT / path).read_text())) <= known, path


def test_every_exit_code_is_documented() -> None:
    codes = {value for name, value in vars(failure).items() if name.isupper() and isinstance(value, int)}
    listed = PAGE.split("## Exit codes")[1]
    assert {int(code) for code in re.findall(r"(?:^|· |\s)(\d+) [a-z]", listed)} == {0, *codes, 130}


def test_the_page_of_quotas_has_every_attribute_with_its_default_and_an_example_that_is_read() -> None:
    page = QUOTAS
    rows = dict(re.findall(r"^\| `([\w./-]+)`[^|]*\|[^|]*\| `([^`]*)` \|", page, re.MULTILINE))
    defaults = {
        node_terms.RECLAIM_AFTER: FLEET.reclaim_after,
        node_terms.PREEMPT_AFTER: FLEET.preempt_after,
        node_terms.MIN_RUNTIME: FLEET.min_runtime,
        node_terms.MAX_GRACE: node_terms.GRACE_MS,
    }
    assert {name: node_terms.duration(rows.pop(name)) for name in defaults} == defaults
    tree = read_quota_tree(parse_documents(_MANIFESTS.findall(page)[0].encode())[0])
    assert rows == {
        node_terms.MAX_EVICTIONS: str(FLEET.max_evictions),
        node_terms.PREEMPT_POLICY: node_terms.PREEMPT_POLICIES[0],
        node_terms.DOMAIN: '"false"',
        node_terms.ORDER: node_terms.order(tree),
        node_terms.WEIGHT: str(node_terms.weight(tree)),
    }
    assert [node_terms.withheld(node) for node in tree.children] == [{"nvidia.com/gpu": 2}, {}]


def test_every_manifest_on_the_page_of_quotas_is_taken_and_nothing_in_it_is_in_vain() -> None:
    """The example and the trees of three organisations, with their PriorityClasses."""
    readers = {"ElasticQuotaTree": read_quota_tree, "PriorityClass": read_priority_class}
    taken = Counter[str]()
    for block in _MANIFESTS.findall(QUOTAS):
        for manifest in parse_documents(block.encode()):
            readers[manifest["kind"]](manifest)
            assert (unknown_fields(manifest), without_effect(manifest)) == ((), ()), manifest
            taken[manifest["kind"]] += 1
    assert taken == {"ElasticQuotaTree": 4, "PriorityClass": 3}


def test_joining_names_no_setting_that_is_not_documented_and_no_file_that_is_not_there() -> None:
    passwords = set(re.findall(r"\$(FAIRWAY_[A-Z_]+)", (ROOT / "deploy/nats/members.conf").read_text()))
    compose = set(re.findall(r"\$\{(FAIRWAY_[A-Z_]+)", (ROOT / "docker-compose.yml").read_text()))
    documented = passwords | compose | set(re.findall(r"FAIRWAY_[A-Z_]+", PAGE))
    assert set(re.findall(r"FAIRWAY_[A-Z_]*[A-Z]", JOINING)) <= documented
    named = set(re.findall(r"\bdeploy/[\w./-]*\w", JOINING))
    assert {"deploy/hub/kubeconfig.sh", "deploy/local/nats.conf", "deploy/examples/first/job.yaml"} <= named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_option_that_joining_tells_to_type_is_one_of_the_command() -> None:
    typed = re.findall(r"fairway (join|leave)\b([^`\n|]*)", JOINING)
    assert len(typed) > 8
    commands = vars(get_command(app))["commands"]
    for command, words in typed:
        known = {option for param in commands[command].params for option in param.opts}
        assert set(re.findall(r"--[a-z-]+", words)) <= known, words
