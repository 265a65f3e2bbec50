"""Files that hold secrets: nobody but their owner can read them, from the moment they exist."""

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import BinaryIO

FOLDER = 0o700
FILE = 0o600


def folder(path: Path) -> Path:
    """The folder, its owner's alone also if it was there before. PermissionError when it is another user's."""
    path.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    if path.stat().st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to another user; choose another folder")
    path.chmod(FOLDER)
    return path


def write(path: Path, content: bytes | str) -> None:
    """A new file in place of whatever had the name: a former one might be open to others, or a link to elsewhere."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE)
    try:
        with open(number, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
        raise


def against(number: int, path: Path) -> str:
    """What speaks against an open file of secrets; empty: nothing. Its group may read it: so containers get theirs."""
    mode = os.fstat(number).st_mode
    if not stat.S_ISREG(mode):
        return f"{path} is no file"
    if mode & stat.S_IRWXO:
        return f"{path} can be read by every user (mode {stat.S_IMODE(mode):04o}); chmod 600 {path}"
    return ""


def log(path: Path) -> BinaryIO:
    """Open for a process to write on."""
    return open(path, "ab", opener=lambda name, flags: os.open(name, flags, FILE))
