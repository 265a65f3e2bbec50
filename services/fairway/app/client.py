"""The fleet as a command sees it: HTTP to its gateway, found by --url, FAIRWAY_URL or the fleet of this folder."""

import json
import os
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener

from fairway.app.failure import DENIED, ERROR, NOT_FOUND, TIMEOUT, UNREACHABLE, USAGE, Failure
from fairway.app.hub_address import asked, namespace_of, of_hub

FLEET_FILE = Path(".fairway/fleet.json")
_START = "start a fleet with `fairway up`, or name one with --url or FAIRWAY_URL"
_CODES = {
    404: NOT_FOUND, 400: USAGE, 403: DENIED, 409: DENIED, 413: DENIED, 415: DENIED, 422: DENIED, 429: DENIED,
    503: UNREACHABLE,
}  # fmt: skip
# The gateway itself answers within 10 s, with the bus away or not.
_SECONDS = 15.0
_PAGE = 500


class Refusal(Failure):
    """The gateway said no; `body` is its problem document."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        title = str(body.get("title") or f"the gateway answered {status}")
        super().__init__(_CODES.get(status, ERROR), title, str(body.get("detail") or ""))
        self.status, self.body = status, body


def address(given: str, environment: Mapping[str, str] = os.environ) -> str:
    """Where the gateway is: as it was given, as the hub of kubectl's flags says, as FAIRWAY_URL or the fleet of this
    folder says, as kubectl's own hub says. Raises Failure when nobody does."""
    url = given
    if not url and not asked.first(environment):
        url = environment.get("FAIRWAY_URL", "") or _of_folder()
    if not url and (asked.plugin or asked.first(environment)):
        url = of_hub()
    if not url:
        raise Failure(UNREACHABLE, f"no fleet is known here: there is no {FLEET_FILE}", _START)
    if not url.startswith(("http://", "https://")):
        raise Failure(USAGE, f"{url!r} is no address", "write it as http://127.0.0.1:8080")
    return url.rstrip("/")


def _of_folder() -> str:
    if not FLEET_FILE.exists():
        return ""
    try:
        return str(json.loads(FLEET_FILE.read_bytes()).get("http") or "")
    except ValueError as error:
        raise Failure(ERROR, f"{FLEET_FILE} is not what `fairway up` writes: {error}", _START) from None


class Api:
    def __init__(self, url: str) -> None:
        self.url = url
        # A proxy of the environment cannot reach this machine's loopback.
        self._opener = build_opener(ProxyHandler({}))

    def get(self, path: str, **query: str) -> Any:
        return self._call("GET", path, query)

    def delete(self, path: str) -> Any:
        return self._call("DELETE", path, {})

    def post(self, path: str, body: Any, **query: str) -> Any:
        return self._call("POST", path, query, json.dumps(body).encode())

    def _call(self, verb: str, path: str, query: Mapping[str, str], data: bytes | None = None) -> Any:
        asked = urlencode({name: value for name, value in query.items() if value})
        url = f"{self.url}{quote(path)}" + (f"?{asked}" if asked else "")
        request = Request(url, data, {"Content-Type": "application/json"} if data is not None else {}, method=verb)
        try:
            with self._opener.open(request, timeout=_SECONDS) as answer:
                return json.loads(answer.read())
        except HTTPError as error:
            raise Refusal(error.code, _problem(error)) from None
        except TimeoutError as error:
            raise Failure(TIMEOUT, f"{self.url} did not answer in {_SECONDS:g} s", "try again") from error
        except (URLError, HTTPException, OSError) as error:
            cause = getattr(error, "reason", error)
            raise Failure(UNREACHABLE, f"{self.url} cannot be reached: {cause}", _START) from error
        except ValueError as error:
            raise Failure(ERROR, f"{self.url} answered with something that is not JSON", "is it Fairway?") from error

    def jobs(self, namespace: str = "", state: str = "") -> Iterator[dict[str, Any]]:
        """Every job, page by page."""
        after = ""
        while True:
            query = {"namespace": namespace, "state": state, "limit": str(_PAGE), "continue": after}
            page = self.get("/v1/jobs", **query)
            yield from page["items"]
            after = page.get("continue", "")
            if not after:
                return

    def find(self, text: str, namespace: str = "") -> str:
        """The id of the job meant by an id, `namespace/name`, `kind/name` as kubectl writes it, a name, or the
        beginning of one of them."""
        head, slash, tail = text.partition("/")
        kind = kind_of(head) if slash else ""
        namespace = namespace or ("" if slash and not kind else namespace_of())
        if not slash and not namespace:
            try:
                return str(self.get(f"/v1/jobs/{text}")["id"])
            except Refusal as refusal:
                if refusal.status != 404:
                    raise
        space, name = (head, tail) if slash and not kind else (namespace, tail or text)
        return meant([row for row in self.jobs(space) if not kind or row["kind"] == kind], name, text)


def kind_of(word: str) -> str:
    """The job kind that kubectl knows by this word: `pytorchjob`, `pytorchjobs.kubeflow.org`; empty: none."""
    from fairway.workloads.registry import KINDS

    plain = word.lower().partition(".")[0]
    if plain in _SHORT:
        return _SHORT[plain]
    return next((one.name for one in KINDS.values() if plain in (one.name.lower(), one.plural)), "")


_SHORT = {"vcjob": "Job", "vj": "Job", "wf": "Workflow", "sparkapp": "SparkApplication"}


def meant(rows: list[dict[str, Any]], name: str, text: str) -> str:
    """The job of these rows that `name` means: by id, else by name, else by how one of them begins. Of several lives
    of one name it is the one that has not ended, else the newest."""

    def named(row: Mapping[str, Any]) -> str:
        return str(row.get("name", ""))

    found = [row for row in rows if name in (row["id"], named(row))]
    found = found or [row for row in rows if row["id"].startswith(name) or named(row).startswith(name)]
    if not found:
        raise Failure(NOT_FOUND, f"there is no job {text}", "`fairway get jobs` lists them")
    names = sorted({f"{row['namespace']}/{named(row) or row['id']}" for row in found})
    if len(names) > 1:
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        raise Failure(USAGE, f"{text} may mean {shown}", "write more of it, or namespace/name")
    return str(max(found, key=lambda row: (row["state"] not in ENDED, row["submitted_at"]))["id"])


ENDED = frozenset({"succeeded", "failed", "cancelled", "rejected"})


def _problem(error: HTTPError) -> dict[str, Any]:
    try:
        body = json.loads(error.read())
    except (ValueError, OSError):
        return {}
    return body if isinstance(body, dict) else {}
