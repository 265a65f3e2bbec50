"""What a host is called, and whether that is this machine."""

import pytest

from fairway.domain.text.host_names import is_loopback, without_port


@pytest.mark.parametrize(
    ("host", "name", "here"),
    [
        ("127.0.0.1:8080", "127.0.0.1", True),
        ("127.8.9.10", "127.8.9.10", True),
        ("LOCALHOST:80", "localhost", True),
        ("[::1]:8080", "::1", True),
        ("[fd00::1]", "fd00::1", False),
        ("10.0.0.1:80", "10.0.0.1", False),
        ("0.0.0.0", "0.0.0.0", False),
        ("127.0.0.1.evil.example", "127.0.0.1.evil.example", False),
        ("localhost.evil.example:80", "localhost.evil.example", False),
        ("", "", False),
    ],
)
def test_a_host_without_its_port_and_whether_it_is_this_machine(host: str, name: str, here: bool) -> None:
    assert (without_port(host), is_loopback(without_port(host))) == (name, here)
