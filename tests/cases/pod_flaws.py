"""What breaks the Pod Security Standards in one place each: in a pod, in one of its containers, in an annotation."""

from typing import Any

from msgspec import Struct

Json = dict[str, Any]
CONTEXT: Json = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
BASELINE = "baseline"
RESTRICTED = "restricted"
NEVER = ""


class Flaw(Struct, frozen=True):
    """`breaks` is the laxest standard that forbids it. `pod`, `container` and `annotations` are merged in; None takes a
    field away."""

    name: str
    breaks: str
    pod: Json = {}
    container: Json = {}
    annotations: dict[str, str] = {}


def context(**fields: Any) -> Json:
    return {"securityContext": fields}


def _profile(kind: str) -> Json:
    return {"type": kind, **({"localhostProfile": "p"} if kind == "Localhost" else {})}


def _volume(kind: str, **fields: Any) -> Json:
    return {"volumes": [{"name": "v", kind: fields}]}


_HOST_PROBE: Json = {"httpGet": {"port": 80, "host": "169.254.169.254"}}
_WINDOWS: Json = {"windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}}
APPARMOR = "container.apparmor.security.beta.kubernetes.io/main"

POD_FLAWS = (
    Flaw("nothing", NEVER),
    Flaw("a safe sysctl", NEVER, context(sysctls=[{"name": "net.ipv4.tcp_rmem", "value": "1 2 3"}])),
    Flaw("a type of SELinux for containers", NEVER, context(seLinuxOptions={"type": "container_engine_t"})),
    Flaw("a claim and a secret", NEVER, _volume("secret", secretName="mine")),
    Flaw("the host's network", BASELINE, {"hostNetwork": True}),
    Flaw("the host's processes", BASELINE, {"hostPID": True}),
    Flaw("the host's IPC", BASELINE, {"hostIPC": True}),
    Flaw("a path of the host", BASELINE, _volume("hostPath", path="/")),
    Flaw("an unsafe sysctl", BASELINE, context(sysctls=[{"name": "kernel.msgmax", "value": "1"}])),
    Flaw("a type of SELinux for hosts", BASELINE, context(seLinuxOptions={"type": "spc_t"})),
    Flaw("a user of SELinux", BASELINE, context(seLinuxOptions={"user": "root"})),
    Flaw("a role of SELinux", BASELINE, context(seLinuxOptions={"role": "sysadm_r"})),
    Flaw("no seccomp for the pod", BASELINE, context(seccompProfile=_profile("Unconfined"))),
    Flaw("no AppArmor for the pod", BASELINE, context(appArmorProfile=_profile("Unconfined"))),
    Flaw("no AppArmor by annotation", BASELINE, annotations={APPARMOR: "unconfined"}),
    Flaw("a process of the Windows host", BASELINE, {"hostNetwork": True, **context(**_WINDOWS)}),
    Flaw("a volume of NFS", RESTRICTED, _volume("nfs", server="s", path="/")),
    Flaw("a volume of iSCSI", RESTRICTED, _volume("iscsi", targetPortal="1.2.3.4", iqn="iqn.2001-04.a:b", lun=0)),
    Flaw("root for the pod", RESTRICTED, context(runAsUser=0)),
    Flaw("leave to be root for the pod", RESTRICTED, context(runAsNonRoot=False)),
)
CONTAINER_FLAWS = (
    Flaw("a capability that all may add", NEVER, container=context(capabilities={"add": ["NET_BIND_SERVICE"]})),
    Flaw("a probe of its own port", NEVER, container={"livenessProbe": {"httpGet": {"port": 80}}}),
    Flaw("privileges", BASELINE, container=context(privileged=True, allowPrivilegeEscalation=True)),
    Flaw("administration of the host", BASELINE, container=context(capabilities={"add": ["SYS_ADMIN"]})),
    Flaw("raw packets", BASELINE, container=context(capabilities={"add": ["NET_RAW"]})),
    Flaw("all of /proc", BASELINE, {"hostUsers": False}, context(procMount="Unmasked")),
    Flaw("a port of the host", BASELINE, container={"ports": [{"containerPort": 80, "hostPort": 80}]}),
    Flaw("no seccomp", BASELINE, container=context(seccompProfile=_profile("Unconfined"))),
    Flaw("no AppArmor", BASELINE, container=context(appArmorProfile=_profile("Unconfined"))),
    Flaw("an SELinux type", BASELINE, container=context(seLinuxOptions={"type": "spc_t"})),
    Flaw("a probe of another host", BASELINE, container={"livenessProbe": _HOST_PROBE}),
    Flaw("a hook of another host", BASELINE, container={"lifecycle": {"preStop": _HOST_PROBE}}),
    Flaw("a harmless capability", RESTRICTED, container=context(capabilities={"add": ["CHOWN"]})),
    Flaw("capabilities that are kept", RESTRICTED, container=context(capabilities=None)),
    Flaw("no word on escalation", RESTRICTED, container=context(allowPrivilegeEscalation=None)),
    Flaw("escalation", RESTRICTED, container=context(allowPrivilegeEscalation=True)),
    Flaw("no word on root", RESTRICTED, container=context(runAsNonRoot=None)),
    Flaw("leave to be root", RESTRICTED, container=context(runAsNonRoot=False)),
    Flaw("root", RESTRICTED, container=context(runAsUser=0)),
    Flaw("no word on seccomp", RESTRICTED, container=context(seccompProfile=None)),
    Flaw("no securityContext", RESTRICTED, container={"securityContext": None}),
    Flaw(
        "what the pod says for it",
        NEVER,
        context(runAsNonRoot=True, seccompProfile=_profile("Localhost")),
        context(runAsNonRoot=None, seccompProfile=None),
    ),
)
