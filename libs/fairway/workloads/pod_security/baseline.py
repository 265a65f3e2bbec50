"""The Pod Security Standard `baseline` as Kubernetes 1.34 has it (k8s.io/pod-security-admission/policy): what every
pod is refused that could reach the node or other pods through it."""

from collections.abc import Callable, Mapping

from fairway.workloads.pod_security.pod import Pod, containers
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import shown

Check = Callable[[PodView, Ruling], None]

_CAPABILITIES = frozenset(
    (
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    )
)
_SYSCTLS = frozenset(
    (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    )
)
_SELINUX = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
PROFILES = ("RuntimeDefault", "Localhost")
# As annotations, before the field was there: core/v1 DeprecatedAppArmorBeta... and its values.
APPARMOR = "container.apparmor.security.beta.kubernetes.io/"


def check(pod: Pod, ruling: Ruling) -> None:
    _each(_POD, pod.spec, ruling)
    if pod.metadata.mentions("annotations"):
        _annotations(pod.metadata["annotations"], ruling)
    for container in containers(pod):
        _each(_CONTAINER, container, ruling)


def _each(checks: Mapping[str, Check], view: PodView, ruling: Ruling) -> None:
    for key, check in checks.items():
        if view.mentions(key):
            check(view[key], ruling)


def _off(text: str) -> Check:
    """What has to be absent or false."""

    def check(view: PodView, ruling: Ruling) -> None:
        if view.value is not None and view.value is not False:
            ruling.baseline(view, text)

    return check


def _volumes(view: PodView, ruling: Ruling) -> None:
    for volume in view.items():
        if volume["hostPath"].given:
            ruling.baseline(volume["hostPath"], "mounts a path of the node")


def _ports(view: PodView, ruling: Ruling) -> None:
    for port in view.items():
        host = port["hostPort"]
        if host.value not in (None, 0):
            ruling.baseline(host, f"takes port {shown(host.value)} of the node")


def _probe(view: PodView, ruling: Ruling) -> None:
    for way in ("httpGet", "tcpSocket"):
        host = view[way]["host"]
        if host.value not in (None, ""):
            ruling.baseline(host, f"makes the kubelet call {shown(host.value)}")


def _lifecycle(view: PodView, ruling: Ruling) -> None:
    for moment in ("postStart", "preStop"):
        _probe(view[moment], ruling)


def _proc_mount(view: PodView, ruling: Ruling) -> None:
    if view.given and view.value != "Default":
        ruling.baseline(view, f"is {shown(view.value)}, not Default")


def _capabilities(view: PodView, ruling: Ruling) -> None:
    for capability in view["add"].items():
        if capability.text() not in _CAPABILITIES:
            ruling.baseline(capability, f"adds the capability {shown(capability.value)}")


def _selinux(view: PodView, ruling: Ruling) -> None:
    if view["type"].value is not None and view["type"].value not in _SELINUX:
        ruling.baseline(view["type"], f"is the SELinux type {shown(view['type'].value)}")
    for name in ("user", "role"):
        if view[name].value not in (None, ""):
            ruling.baseline(view[name], f"sets an SELinux {name}")


def _profile(view: PodView, ruling: Ruling) -> None:
    if view.given and view["type"].value not in PROFILES:
        ruling.baseline(view["type"], f"is {shown(view['type'].value)}, not {' or '.join(PROFILES)}")


def _sysctls(view: PodView, ruling: Ruling) -> None:
    for sysctl in view.items():
        if sysctl["name"].text() not in _SYSCTLS:
            ruling.baseline(sysctl["name"], f"sets {shown(sysctl['name'].value)}, which is not among the safe sysctls")


def _annotations(view: PodView, ruling: Ruling) -> None:
    for key, value in view.pairs():
        if key.startswith(APPARMOR):
            apparmor(value, ruling)


def apparmor(view: PodView, ruling: Ruling) -> None:
    """A profile as the annotation names it."""
    if view.value not in (None, "", "runtime/default") and not str(view.value).startswith("localhost/"):
        ruling.baseline(view, f"is the AppArmor profile {shown(view.value)}")


def _context(view: PodView, ruling: Ruling) -> None:
    _each(_CONTEXT, view, ruling)


_POD: dict[str, Check] = {
    **{name: _off(f"{name} shares a namespace of the node") for name in ("hostNetwork", "hostPID", "hostIPC")},
    "securityContext": _context,
    "volumes": _volumes,
}
_CONTAINER: dict[str, Check] = {
    "securityContext": _context,
    "ports": _ports,
    **dict.fromkeys(("livenessProbe", "readinessProbe", "startupProbe"), _probe),
    "lifecycle": _lifecycle,
}
_host_process = _off("runs as a process of the Windows host")
# Of a pod and of a container: each field is known to one of them or to both.
_CONTEXT: dict[str, Check] = {
    "privileged": _off("makes the container root of its node"),
    "procMount": _proc_mount,
    "capabilities": _capabilities,
    "seLinuxOptions": _selinux,
    "seccompProfile": _profile,
    "appArmorProfile": _profile,
    "windowsOptions": lambda view, ruling: _host_process(view["hostProcess"], ruling),
    "sysctls": _sysctls,
}
