"""Which kubeconfigs are taken, and what is said about those that are not."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fairway.adapters.kubernetes.kubeconfig import BadKubeconfig, read
from fairway.adapters.kubernetes.server_address import GuardedResolver

Json = dict[str, Any]


def config(server: str = "https://m1.example.org:6443", cluster: Json | None = None, user: Json | None = None) -> Json:
    return {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "m1", "user": "me"}}],
        "clusters": [{"name": "m1", "cluster": {"server": server, **(cluster or {})}}],
        "users": [{"name": "me", "user": {"token": "secret"} if user is None else user}],
    }


def cluster_of(checked: Json) -> Json:
    found: Json = checked["clusters"][0]["cluster"]
    return found


@pytest.mark.parametrize(
    ("given", "field"),
    [
        pytest.param(config(user={"exec": {"command": "sh"}}), "user.exec", id="a program to run"),
        pytest.param(config(user={"auth-provider": {"name": "gcp"}}), "user.auth-provider", id="an auth provider"),
        pytest.param(config(user={"tokenFile": "/etc/shadow"}), "user.tokenFile", id="a token file"),
        pytest.param(config(user={"username": "a", "password": "b"}), "user.username", id="a password"),
        pytest.param(config(user={"token": "a", "as": "root"}), "user.as", id="impersonation that would be ignored"),
        pytest.param(config(cluster={"proxy-url": "http://p"}), "cluster.proxy-url", id="a proxy"),
        pytest.param(
            config(cluster={"insecure-skip-tls-verify": True}), "cluster.insecure-skip-tls-verify", id="no verification"
        ),
        pytest.param(
            config(cluster={"certificate-authority": "ca.crt"}),
            "certificate-authority",
            id="a file, named in a content without a folder",
        ),
        pytest.param(config("http://m1.example.org"), "cluster.server", id="plain http to another machine"),
        pytest.param(config("https://169.254.169.254"), "cluster.server", id="a cloud's metadata address"),
        pytest.param(config("https://[fe80::1]:6443"), "cluster.server", id="a link-local address of version 6"),
        pytest.param(config("https://[::ffff:169.254.169.254]"), "cluster.server", id="it again, as a mapped address"),
        pytest.param(config("https://[fd00:ec2::254]"), "cluster.server", id="the metadata address of version 6"),
        pytest.param(config("https://100.100.100.200"), "cluster.server", id="another cloud's metadata address"),
        pytest.param(config("https://metadata.google.internal."), "cluster.server", id="a metadata service by name"),
        pytest.param(config("https://224.0.0.1"), "cluster.server", id="an address of many machines"),
        pytest.param(config("https://m1:port"), "cluster.server", id="a port that is none"),
        pytest.param(config("https://me:pw@m1"), "cluster.server", id="credentials in the address"),
        pytest.param(config("file:///etc/passwd"), "cluster.server", id="no address at all"),
        pytest.param(config() | {"current-context": "other"}, "contexts", id="a context that is not there"),
        pytest.param(config() | {"users": []}, "users", id="a user that is not there"),
        pytest.param({"a": 1}, "contexts", id="no kubeconfig"),
    ],
)
def test_a_kubeconfig_with_this_is_refused_by_field(given: Json, field: str) -> None:
    with pytest.raises(BadKubeconfig, match=r"; |add it") as refused:
        read(given)
    assert refused.value.field == field


@pytest.mark.parametrize("server", ["http://127.0.0.1:8001", "http://localhost:8001", "https://[::1]:6443"])
def test_plain_http_is_taken_on_the_machine_itself(server: str) -> None:
    assert cluster_of(read(config(server)))["server"] == server


@pytest.mark.parametrize(
    "server",
    [
        "https://127.0.0.1:6443",
        "https://127.8.8.8",
        "https://localhost",
        "https://api.localhost",
        "https://[::1]",
        "https://[::ffff:127.0.0.1]",
        "https://0.0.0.0:6443",
        "http://127.0.0.1:8001",
    ],
)
def test_a_server_on_the_machine_itself_is_refused_where_that_is_not_allowed(server: str) -> None:
    with pytest.raises(BadKubeconfig) as refused:
        read(config(server), loopback=False)
    assert refused.value.field == "cluster.server"


@pytest.mark.parametrize("name", ["localhost", "2130706433", "0x7f.1"])
async def test_a_name_that_stands_for_the_machine_itself_is_refused_when_it_is_resolved(name: str) -> None:
    """Numbers in other clothes are names until they are looked up."""
    with pytest.raises(OSError, match="this machine itself"):
        await GuardedResolver(loopback=False).resolve(name, 6443)
    assert await GuardedResolver(loopback=True).resolve(name, 6443)


def test_another_context_can_be_named() -> None:
    given = config()
    given["contexts"].append({"name": "d", "context": {"cluster": "m2", "user": "me"}})
    given["clusters"].append({"name": "m2", "cluster": {"server": "https://m2.example.org"}})
    assert cluster_of(read(given, "d"))["server"] == "https://m2.example.org"


def test_false_is_no_reason_to_refuse() -> None:
    assert "insecure-skip-tls-verify" not in cluster_of(read(config(cluster={"insecure-skip-tls-verify": False})))


def test_only_the_current_context_is_taken_over() -> None:
    given = config()
    given["users"].append({"name": "other", "user": {"exec": {"command": "sh"}}})
    assert read(given)["users"] == [{"name": "it", "user": {"token": "secret"}}]


def test_certificates_beside_the_file_are_read_with_it(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("CA")
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config(cluster={"certificate-authority": "ca.crt"})))
    assert cluster_of(read(path))["certificate-authority-data"] == "Q0E="


@pytest.mark.parametrize("name", ["../ca.crt", "link.crt", "{outside}"])
def test_certificates_elsewhere_are_not_read(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "ca.crt"
    outside.write_text("CA")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "link.crt").symlink_to(outside)
    path = folder / "kubeconfig"
    named = name.format(outside=outside)
    path.write_text(yaml.safe_dump(config(cluster={"certificate-authority": named})))
    with pytest.raises(BadKubeconfig, match="outside"):
        read(path)


def test_a_file_that_is_not_yaml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("a: [")
    with pytest.raises(BadKubeconfig, match="not YAML"):
        read(path)
