"""TLS of simulated clusters: kubectl sends no credential over plain http, so whoever is to log in needs it."""

import datetime as dates
import ipaddress
import ssl
import tempfile
from functools import lru_cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID
from msgspec import Struct

from fairway.runtime import private_files

_FROM = dates.datetime(2020, 1, 1, tzinfo=dates.UTC)
_UNTIL = dates.datetime(2099, 1, 1, tzinfo=dates.UTC)
LOCALHOST = (x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
_USES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


class ServerCertificate(Struct, frozen=True):
    """PEM. The certificate signs itself: it is what clients are to trust."""

    certificate: bytes
    key: bytes


@lru_cache(maxsize=1)
def pair() -> ServerCertificate:
    """One for all clusters of this process, known to nobody else, for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubesim")])
    made = builder(name, key.public_key(), *LOCALHOST).issuer_name(name)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    made = made.add_extension(usage("digital_signature", "key_cert_sign"), critical=True)
    made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    pem = serialization.Encoding.PEM
    written = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return ServerCertificate(made.sign(key, hashes.SHA256()).public_bytes(pem), written)


def builder(
    subject: x509.Name, key: ec.EllipticCurvePublicKey | rsa.RSAPublicKey, *names: x509.GeneralName
) -> x509.CertificateBuilder:
    made = x509.CertificateBuilder().subject_name(subject).public_key(key)
    made = made.serial_number(x509.random_serial_number()).not_valid_before(_FROM).not_valid_after(_UNTIL)
    return made.add_extension(x509.SubjectAlternativeName(names), critical=False)


def usage(*allowed: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{use: use in allowed for use in _USES})


def serving() -> ssl.SSLContext:
    """For the servers. OpenSSL reads files only: this one is gone when it was read."""
    found = pair()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with tempfile.TemporaryDirectory(prefix="kubesim-") as folder:
        path = Path(folder) / "pair.pem"
        private_files.write(path, found.certificate + found.key)
        context.load_cert_chain(path)
    return context
