"""`submit --dry-run` says what a fleet would, and needs none."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from fairway.cli.main import app
from tests.paths import ROOT

DEPLOY = ROOT / "deploy"
DEMO = ROOT / "libs/fairway/lab/demo/script"
JOB = (
    "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n"
    "spec: {template: {spec: {containers: [{name: c, image: i}]}}}\n"
)
POLICY = (
    "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p}\n"
    "spec: {resourceSelectors: [{apiVersion: batch/v1, kind: Job, name: NAME}], placement: {}}\n"
)


def dry_run(*words: str, given: str | bytes = "") -> Result:
    return CliRunner().invoke(app, ["submit", "--dry-run", *words], input=given)


def entries(*words: str, given: str | bytes = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(dry_run("-o", "json", *words, given=given).stdout)
    return found


def examples() -> list[str]:
    """The files of the examples, without the kind that is only declared."""
    names = [path for path in sorted((DEPLOY / "examples").glob("*.yaml")) if path.stem != "cloneset"]
    return [word for path in names for word in ("-f", str(path))]


def test_every_example_is_accepted_with_its_tenants_and_policies() -> None:
    done = dry_run(*examples())
    assert (done.exit_code, "refused" in done.stdout) == (0, False), done.stdout


def test_a_whole_folder_is_read_and_what_is_wrong_in_it_is_found() -> None:
    found = entries("-f", str(DEMO / "tenants.yaml"), "-f", str(DEMO / "jobs"))
    refused = {one["name"] for one in found if not one["accepted"]}
    assert refused == {"broken", "sixteen-times-four"}


def test_an_accepted_job_shows_its_pod_sets_gang_and_class() -> None:
    (job,) = [one for one in entries("-f", str(DEPLOY / "examples" / "pytorchjob.yaml")) if one["kind"] == "PyTorchJob"]
    worker = {"cpu": 4000, "memory": 16 * 2**30, "nvidia.com/gpu": 2}
    assert job["accepted"] and job["policy"] == "PropagationPolicy team-vision/train-resnet"
    assert job["pod_sets"] == [
        {"name": "Master", "count": 1, "requests": worker},
        {"name": "Worker", "count": 3, "requests": worker},
    ]
    assert (job["gang_minimum"], job["priority_class"]) == (4, "high")


def test_what_its_pods_may_not_ask_for_is_refused_before_there_is_a_fleet() -> None:
    (job,) = entries("-f", "-", given=JOB.replace("spec: {containers", "spec: {hostPID: true, containers"))
    (reason,) = job["reasons"]
    assert (reason["code"], reason["field"]) == ("UnsafePod", "spec.template.spec.hostPID")
    assert "TenantProfile spec.podSecurity" in reason["remedy"]


DEEP = "a: " + "[" * 80 + "]" * 80


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        pytest.param(JOB.replace("Job", "Jobb"), "UnknownKind", "is not a job kind", id="an unknown kind"),
        pytest.param("kind: Job\napiVersion: batch/v9\n", "UnknownKind", "batch/v1", id="an unknown version"),
        pytest.param(JOB.replace("spec: {", "spec: {parallelism: -1, "), "Invalid", "is -1", id="a negative count"),
        pytest.param(JOB.replace("name: a", "name: a.>"), "Invalid", "name", id="a name that would break a subject"),
        pytest.param(JOB.replace("name: a", "namespace: a b"), "Invalid", "namespace", id="a namespace with a space"),
        pytest.param(
            JOB.replace("i}", "i, resources: {limits: {cpu: lots}}}"), "Invalid", "quantity", id="no quantity"
        ),
        pytest.param(JOB.replace("i}", "i, resources: {limits: {cpu: 9E}}}"), "Invalid", "", id="an absurd quantity"),
        pytest.param(JOB + "---\n" + POLICY, "NoPolicy", "selects Job default/a", id="policies, none of them for it"),
        pytest.param("a: *b\n", "Invalid", "alias", id="an alias of nothing"),
        pytest.param("a: 1\na: 2\n", "Invalid", "a second time", id="a key twice"),
        pytest.param(DEEP, "Invalid", "deep", id="too deep"),
        pytest.param("a: [1\n", "Invalid", "", id="no YAML"),
        pytest.param("", "Invalid", "no object", id="nothing at all"),
        pytest.param(b"a: \xff\n", "Invalid", "UTF-8", id="no text"),
        pytest.param("a: " + "x" * 2**20, "TooLarge", "1 MiB", id="more than a MiB"),
    ],
)
def test_bad_input_is_refused_with_the_reason(given: str | bytes, code: str, says: str) -> None:
    done = dry_run("-f", "-", "-o", "json", given=given)
    (refused,) = [one for one in json.loads(done.stdout) if not one["accepted"]]
    assert done.exit_code == 4
    assert code in {reason["code"] for reason in refused["reasons"]}
    assert says in " ".join(f"{reason['field']} {reason['text']} {reason['remedy']}" for reason in refused["reasons"])
    assert all(reason["remedy"] for reason in refused["reasons"])


def test_one_bad_file_does_not_hide_the_good_ones(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("a: [1\n")
    (tmp_path / "good.yaml").write_text(JOB)
    found = entries("-f", str(tmp_path), "-f", str(tmp_path / "missing.yaml"))
    assert [(Path(one["source"]).name, one["accepted"]) for one in found] == [
        ("bad.yaml", False),
        ("good.yaml", True),
        ("missing.yaml", False),
    ]


def test_without_any_policy_in_hand_it_is_not_judged_whether_the_hub_has_one() -> None:
    assert [one["accepted"] for one in entries("-f", "-", given=JOB)] == [True]


def test_two_policies_for_one_job_are_too_many() -> None:
    policy = POLICY.replace("NAME", "a")
    found = entries("-f", "-", given="---\n".join((JOB, policy, policy.replace("name: p}", "name: q}"))))
    assert found[0]["reasons"][0]["code"] == "TwoPolicies"


@pytest.mark.parametrize("output", ["yaml", "wide", "x"])
def test_an_output_that_is_not_known_is_a_mistake_of_the_caller(output: str) -> None:
    assert dry_run("-f", "-", "-o", output, given=JOB).exit_code == 2


def test_names_alone_for_scripts_and_the_count_of_refusals_beside_them() -> None:
    done = dry_run("-f", "-", "-o", "name", given=JOB + "---\nkind: X\n")
    assert (done.stdout, done.stderr) == ("job/a\n", "fairway: 1 of 2 objects refused\n")


def test_text_from_a_manifest_cannot_move_the_cursor() -> None:
    done = dry_run("-f", "-", given='apiVersion: batch/v1\nkind: "J\\e[2Job"\nmetadata: {name: a}\n')
    assert "\x1b" not in done.stdout


QUEUE = "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: Queue\nmetadata: {name: gold}\nspec: {SPEC}\n"


def test_what_of_a_setting_has_no_effect_is_a_warning() -> None:
    given = QUEUE.replace("SPEC", "admissionChecks: [{name: x}]")
    (said,) = entries("-f", "-", given=given)
    warning = "without effect: spec.admissionChecks (jobs are let go without such checks)"
    assert (said["accepted"], said["warnings"]) == (True, [warning])
    assert f"\n           {warning}\n" in dry_run("-f", "-", given=given).stdout


TREE = """
apiVersion: scheduling.sigs.k8s.io/v1beta1
kind: ElasticQuotaTree
metadata: {name: tree, namespace: kube-system}
spec: {root: {name: root, children: [{name: a, namespaces: [default], max: {cpu: 4}}]}}
"""
LABELLED = JOB.replace("name: a", 'name: a, labels: {quota.scheduling.koordinator.sh/preemptible: "WORD"}').replace(
    "i}", "i, resources: {limits: {cpu: 1}}}"
)


@pytest.mark.parametrize(
    ("word", "code"),
    [
        pytest.param("true", "", id="it may be evicted"),
        pytest.param("false", "ExceedsMinQuota", id="it may not, and its leaf guarantees nothing"),
        pytest.param("maybe", "Invalid", id="another word"),
    ],
)
def test_a_job_that_may_not_be_evicted_is_held_to_the_tree_of_the_same_files(word: str, code: str) -> None:
    said = entries("-f", "-", given=LABELLED.replace("WORD", word) + "---" + TREE)
    assert [one["code"] for one in said[0].get("reasons", ())] == ([code] if code else [])


def test_a_secret_that_is_written_out_is_a_warning() -> None:
    given = JOB.replace("containers: [{", "containers: [{env: [{name: TOKEN, value: hunter2}], ")
    assert given != JOB
    (said,) = entries("-f", "-", given=given)
    assert said["accepted"] and "is the value of 'TOKEN', written out" in said["warnings"][0]
    assert "hunter2" not in dry_run("-f", "-", given=given).stdout


def test_what_kueue_would_act_on_and_nobody_here_does_is_a_warning() -> None:
    given = JOB.replace("{name: a}", '{name: a, annotations: {kueue.x-k8s.io/job-min-parallelism: "2"}}')
    (said,) = entries("-f", "-", given=given)
    assert said["accepted"] and "min-parallelism'] (a Job starts with as many pods" in said["warnings"][0]


def test_a_field_that_nobody_knows_is_refused() -> None:
    (said,) = entries("-f", "-", given=QUEUE.replace("SPEC", "queuePolicey: Block"))
    assert (said["accepted"], said["reasons"][0]["field"]) == (False, "spec.queuePolicey")


@pytest.mark.parametrize(
    ("kind", "version", "text", "remedy"),
    [
        ("CronJob", "batch/v1", "makes jobs at set times", "on the hub with kubectl apply -f"),
        ("CronWorkflow", "argoproj.io/v1alpha1", "makes jobs at set times", "on the hub with kubectl apply -f"),
        ("Queue", "scheduling.volcano.sh/v1beta1", "is a setting, and no job", "on the hub with kubectl apply -f"),
        ("RayService", "ray.io/v1", "is a service and not a job", "submit a RayCluster"),
        ("Deployment", "apps/v1", "is a service and not a job", "submit a Job"),
    ],
)
def test_what_is_known_and_no_job_is_told_what_it_is_and_where_it_goes(
    kind: str, version: str, text: str, remedy: str
) -> None:
    given = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\n"
    (said,) = entries("-f", "-", given=given)
    (reason,) = said["reasons"]
    assert (said["accepted"], reason["code"]) == (False, "UnknownKind")
    assert text in reason["text"]
    assert remedy in reason["remedy"]
    title = f"{kind} a" if kind == "Queue" else f"{kind} default/a"
    assert f"refused    {title}  standard input" in dry_run("-f", "-", given=given).stdout


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret", "ServiceAccount", "PersistentVolumeClaim"])
def test_what_goes_along_with_a_job_is_to_be_applied_on_the_hub(kind: str) -> None:
    beside = f"---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: db}}\n"
    job, other = entries("-f", "-", given=JOB + beside)
    assert (job["accepted"], other["accepted"]) == (True, False)
    (reason,) = other["reasons"]
    assert reason["text"] == f"{kind} 'db' is no job, and is not sent"
    assert "kubectl apply" in reason["remedy"]


ROOM = POLICY.replace("{name: p}", "{name: p, annotations: {fairway.io/room: 'WHICH'}}").replace("NAME", "a")
ASKS = JOB.replace("image: i", "image: i, resources: {requests: {cpu: 2}}")
LEAF = (
    "apiVersion: scheduling.sigs.k8s.io/v1beta1\nkind: ElasticQuotaTree\nmetadata: {name: t}\n"
    "spec: {root: {name: root, children: [{name: a, namespaces: [default], max: MAX}]}}\n"
)


@pytest.mark.parametrize(
    ("room", "name"),
    [("batch", "kubernetes.io/batch-cpu"), ("batch,normal", "cpu"), ("normal", "cpu")],
)
def test_a_policy_says_what_its_jobs_ask_for(room: str, name: str) -> None:
    job, _ = entries("-f", "-", given="---\n".join((ASKS, ROOM.replace("WHICH", room))))
    assert [one["requests"] for one in job["pod_sets"]] == [{name: 2000}]


@pytest.mark.parametrize(
    ("most", "accepted"),
    [("{cpu: 1, kubernetes.io/batch-cpu: 2k}", True), ("{cpu: 1, kubernetes.io/batch-cpu: 1k}", False)],
)
def test_a_job_that_may_have_either_is_refused_where_it_can_have_neither(most: str, accepted: bool) -> None:
    given = "---\n".join((ASKS, ROOM.replace("WHICH", "batch,normal"), LEAF.replace("MAX", most)))
    job = next(one for one in entries("-f", "-", given=given) if one["kind"] == "Job")
    assert job["accepted"] is accepted
