"""TLS of simulated clusters: kubectl sends no credential over plain http, so whoever is to log in needs it."""

import datetime as dates
import ipaddress
import ssl
import tempfile
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from fairway.runtime import private_files

_FROM = dates.datetime(2020, 1, 1, tzinfo=dates.UTC)
_UNTIL = dates.datetime(2099, 1, 1, tzinfo=dates.UTC)


class ServerCertificate(Struct, frozen=True):
    """PEM. The certificate signs itself: it is what clients are to trust."""

    certificate: bytes
    key: bytes


@lru_cache(maxsize=1)
def pair() -> ServerCertificate:
    """One for all clusters of this process, known to nobody else, for 127.0.0.1."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubesim")])
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number()).not_valid_before(_FROM).not_valid_after(_UNTIL)
    made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    made = made.add_extension(usage, critical=True)
    made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    pem = serialization.Encoding.PEM
    written = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return ServerCertificate(made.sign(key, hashes.SHA256()).public_bytes(pem), written)


def serving() -> ssl.SSLContext:
    """For the servers. OpenSSL reads files only: this one is gone when it was read."""
    found = pair()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with tempfile.TemporaryDirectory(prefix="kubesim-") as folder:
        path = Path(folder) / "pair.pem"
        private_files.write(path, found.certificate + found.key)
        context.load_cert_chain(path)
    return context
