"""`python -m fairway.lab.documents.credentials`: writes the users of NATS and Valkey as deploy/ has them."""

from pathlib import Path

import typer

from fairway.adapters.rights.nats_users import services_conf
from fairway.adapters.rights.valkey_users import users_acl

DEPLOY = Path("deploy")


def write(root: Path) -> list[str]:
    """Writes both below `root`; returns their paths there."""
    pages = {"nats/services.conf": services_conf(), "valkey/users.acl": users_acl()}
    for path, text in pages.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return list(pages)


if __name__ == "__main__":
    typer.echo(f"wrote {len(write(DEPLOY))} files below {DEPLOY}/")
