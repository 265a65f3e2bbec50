"""Variables of containers whose names say that their values are secrets, and whose values are written out."""

import re
from typing import Any

from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import shown

# No more of a name is looked at: what it is stands at its end.
_LOOKED_AT = 64
_SECRET = re.compile(
    r"(?:^|[_.-])(?:PASS|PWD|SECRET)$|(?:PASSWORD|PASSWD|PASSPHRASE|TOKEN)$"
    r"|(?:API|ACCESS|ACCOUNT|ENCRYPTION|PRIVATE|SECRET)[_.-]?KEY$|CONNECTION[_.-]?STRING$"
)
# The working directories of a shell, and the marks in the texts of a language model.
_INNOCENT = re.compile(r"^(?:OLD)?PWD$|(?:^|_)(?:BOS|CLS|END|EOS|EOT|IMAGE|MASK|PAD|SEP|SPECIAL|START|STOP|UNK)_TOKEN$")
_REFERENCE = re.compile(r"\$\([^()]*\)")


def secret_like(name: Any) -> bool:
    """`DB_PASSWORD`, `HF_TOKEN`, `apiKey`; not `TOKENIZERS_PARALLELISM`, `MAX_TOKENS` or `PASSWORD_FILE`."""
    if type(name) is not str:
        return False
    end = name[-_LOOKED_AT:].upper()
    return bool(_SECRET.search(end)) and not _INNOCENT.search(end)


def plain_variable(name: Any, value: PodView, ruling: Ruling) -> None:
    """One variable: what is filled in later, from another variable or a template, is not written out."""
    text = value.value
    if not secret_like(name) or type(text) is not str or not text.strip():
        return
    if "{{" not in text and not _REFERENCE.fullmatch(text.strip()):
        ruling.plain_secret(value, shown(name))


def plain_variables(env: PodView, ruling: Ruling) -> None:
    """The variables of one container."""
    for entry in env.items():
        if entry.mentions("value"):
            plain_variable(entry["name"].value, entry["value"], ruling)
