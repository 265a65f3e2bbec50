"""The fleet as a command sees it: HTTP to its gateway, found by --url, FAIRWAY_URL or the fleet of this folder."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import URLError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from fairway.client.answer_shapes import decoded, problem
from fairway.client.credential import FLEET_FILE, FOLDER, HUB, SAID, Credential, GatewayPlace, choose, facts_of_folder
from fairway.client.exchange import MOST, SILENT_S, TOTAL_S, Answer, ResponseTooLarge, exchange
from fairway.client.failure import DENIED, ERROR, NOT_FOUND, TIMEOUT, UNREACHABLE, USAGE, Failure
from fairway.client.hub_address import asked, namespace_of, of_hub
from fairway.domain.text.digits import is_whole

_START = "start a fleet with `fairway up`, or name one with --url or FAIRWAY_URL"
_CODES = {
    404: NOT_FOUND,
    400: USAGE,
    503: UNREACHABLE,
    **dict.fromkeys((401, 403, 409, 413, 415, 422, 429), DENIED),
}
_PAGE = 500
# A caller who asks too much is told when to come again: so often, and for so long, a command waits.
_AGAIN = 20
LONGEST_S = 30.0
_KNOW_ME = (
    "run this in the folder of `fairway up`, name the hub's --kubeconfig, or give a token with --token-file FILE or "
    "FAIRWAY_TOKEN_FILE"
)


class GatewayRefusal(Failure):
    """The gateway said no; `body` is its problem document."""

    def __init__(self, status: int, body: Mapping[str, Any], credential: Credential) -> None:
        title = str(body.get("title") or f"the gateway answered {status}")
        remedy = str(body.get("detail") or "")
        if status == 401 and not credential.token:
            title = "the gateway asks who this is, and no credential was found for it"
            remedy = _KNOW_ME
        elif status == 401:
            title = f"the gateway does not take {credential.source}: {title}"
        elif status == 403 and not remedy:
            remedy = f"known by {credential.source or 'nothing'}; ask whoever manages the hub for the right"
        super().__init__(_CODES.get(status, ERROR), title, remedy)
        self.status = status
        self.body = body


def connect(url: str, token_file: str = "", environment: Mapping[str, str] = os.environ) -> "Api":
    """The fleet that is meant, with the credential that belongs there. Raises Failure."""
    found = place(url, environment)
    return Api(found.url, choose(found, token_file, environment))


def place(given: str, environment: Mapping[str, str]) -> GatewayPlace:
    """Where the gateway is: as it was given, as the hub of kubectl's flags says, as FAIRWAY_URL or the fleet of this
    folder says, as kubectl's own hub says. Raises Failure when nobody does."""
    url = given
    by = SAID
    if not url and not asked.first(environment):
        url = environment.get("FAIRWAY_URL", "")
        if not url:
            url = str(facts_of_folder().get("http") or "")
            by = FOLDER
    if not url and (asked.plugin or asked.first(environment)):
        url = of_hub()
        by = HUB
    if not url:
        raise Failure(UNREACHABLE, f"no fleet is known here: there is no {FLEET_FILE}", _START)
    if not url.startswith(("http://", "https://")):
        raise Failure(USAGE, f"{url!r} is no address", "write it as http://127.0.0.1:8080")
    return GatewayPlace(url.rstrip("/"), by)


class _NoRedirects(HTTPRedirectHandler):
    """Nobody but the user says where a credential goes; urllib would take it along."""

    def redirect_request(self, *about: Any) -> None:
        return None


class Api:
    def __init__(self, url: str, credential: Credential | None = None) -> None:
        self.url = url
        self._credential = credential or Credential()
        # A proxy of the environment cannot reach this machine's loopback.
        self._opener = build_opener(ProxyHandler({}), _NoRedirects())

    def get(self, path: str, **query: str) -> Any:
        return self._call("GET", path, query)

    def delete(self, path: str) -> Any:
        return self._call("DELETE", path, {})

    def post(self, path: str, body: Any, **query: str) -> Any:
        return self._call("POST", path, query, json.dumps(body).encode())

    def _call(self, verb: str, path: str, query: Mapping[str, str], data: bytes | None = None) -> Any:
        asked = urlencode({name: value for name, value in query.items() if value})
        url = f"{self.url}{quote(path)}" + (f"?{asked}" if asked else "")
        headers = {"Content-Type": "application/json"} if data is not None else {}
        if self._credential.token:
            headers["Authorization"] = f"Bearer {self._credential.token}"
        request = Request(url, data, headers, method=verb)
        left = _AGAIN
        while not 200 <= (answer := self._exchanged(request)).status < 300:
            body = problem(answer.body)
            wait_s = _wait(answer)
            # A tenant's own limits have reasons: they are the answer.
            if answer.status != 429 or body.get("reasons") or not left or wait_s > LONGEST_S:
                raise GatewayRefusal(answer.status, body, self._credential)
            left -= 1
            time.sleep(wait_s)
        return decoded(answer.body, verb, path, self.url)

    def _exchanged(self, request: Request) -> Answer:
        """Whatever was answered. Raises Failure where there is no answer."""
        try:
            return exchange(self._opener, request)
        except ResponseTooLarge:
            raise Failure(ERROR, f"{self.url} answered with more than {MOST >> 20} MiB", "is it Fairway?") from None
        except TimeoutError as error:
            text = f"{self.url} did not answer in {SILENT_S:g} s, or not to the end in {TOTAL_S:g} s"
            raise Failure(TIMEOUT, text, "try again") from error
        except (URLError, HTTPException, OSError, ValueError) as error:
            cause = getattr(error, "reason", error)
            raise Failure(UNREACHABLE, f"{self.url} cannot be reached: {cause}", _START) from error

    def jobs(self, namespace: str = "", state: str = "") -> Iterator[dict[str, Any]]:
        """Every job, page by page."""
        after = ""
        seen = {""}
        while True:
            query = {"namespace": namespace, "state": state, "limit": str(_PAGE), "continue": after}
            page = self.get("/v1/jobs", **query)
            yield from page["items"]
            after = page.get("continue", "")
            if not after:
                return
            if after in seen:
                raise Failure(ERROR, f"{self.url} answers the same pages of jobs for ever", "is it Fairway?")
            seen.add(after)

    def find(self, text: str, namespace: str = "") -> str:
        """The id of the job meant by an id, `namespace/name`, `kind/name` as kubectl writes it, `namespace/kind/name`,
        a name, or the beginning of one of them."""
        *front, name = text.split("/", 2)
        kind = kind_of(front[-1]) if front else ""
        if len(front) == 2 and not kind:
            raise Failure(USAGE, f"{front[1]} is no kind of job", "write namespace/kind/name, such as team-a/job/train")
        if front and not (kind and len(front) == 1):
            namespace = front[0]
        namespace = namespace or namespace_of()
        if not front and not namespace:
            try:
                return str(self.get(f"/v1/jobs/{text}")["id"])
            except GatewayRefusal as refusal:
                if refusal.status != 404:
                    raise
        return meant([row for row in self.jobs(namespace) if not kind or row["kind"] == kind], name or text, text)


def kind_of(word: str) -> str:
    """The job kind that kubectl knows by this word: `pytorchjob`, `pytorchjobs.kubeflow.org`; empty: none."""
    from fairway.workloads.kinds.registry import KINDS

    plain = word.lower().partition(".")[0]
    if plain in _SHORT:
        return _SHORT[plain]
    return next((one.name for one in KINDS.values() if plain in (one.name.lower(), one.plural)), "")


_SHORT = {"vcjob": "Job", "vj": "Job", "wf": "Workflow", "sparkapp": "SparkApplication"}


def meant(rows: list[dict[str, Any]], name: str, text: str) -> str:
    """The job of these rows that `name` means: by id, else by name, else by how one of them begins. Of several lives
    of one name it is the object that the hub holds, which is what kubectl shows by that name: another job that has the
    name is meant by its id. Else it is the one that has not ended, else the newest."""

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
    kinds = sorted({str(row.get("kind", "")) for row in found if row["state"] not in ENDED})
    if len(kinds) > 1:
        raise Failure(USAGE, f"{names[0]} is a {' and a '.join(kinds)}", f"write {kinds[0].lower()}/{name}, or its id")
    return str(max(found, key=lambda row: (row["state"] == HELD, row["state"] not in ENDED, row["submitted_at"]))["id"])


# The state of an object that is held on the hub, and not submitted.
HELD = "held"
ENDED = frozenset({"succeeded", "failed", "cancelled", "rejected"})


def _wait(answer: Answer) -> float:
    """In seconds; a little more than was said, as others were told the same."""
    text = answer.headers.get("Retry-After") or ""
    return (int(text) if is_whole(text, 9) else 1) + 0.1
