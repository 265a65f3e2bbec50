"""A certificate for the operators' webhooks, which the API server calls by URL on 127.0.0.1."""

import datetime as dates
import ipaddress
from functools import lru_cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Struct

from fairway.runtime import private_files

# training-operator replaces a pair that names anything else, or that ends within 90 days.
_AUTHORITY = "training-operator-ca"
_SERVER = "training-operator.kubeflow.svc"
_FROM = dates.datetime(2020, 1, 1, tzinfo=dates.UTC)
_UNTIL = dates.datetime(2099, 1, 1, tzinfo=dates.UTC)


class WebhookCertificate(Struct, frozen=True):
    """PEM. The keys are in PKCS#1, the only form that training-operator reads."""

    ca: bytes
    ca_key: bytes
    certificate: bytes
    key: bytes

    def write(self, folder: Path) -> None:
        """As `ca.crt`, `tls.crt` and `tls.key`, where a server looks for a mounted Secret."""
        folder.mkdir(mode=private_files.FOLDER, parents=True, exist_ok=True)
        (folder / "ca.crt").write_bytes(self.ca)
        (folder / "tls.crt").write_bytes(self.certificate)
        private_files.write(folder / "tls.key", self.key)


@lru_cache(maxsize=1)
def pair() -> WebhookCertificate:
    """One for all clusters of this process: making it takes half a second."""
    ca_key = _key()
    key = _key()
    authority = x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "fairway"), x509.NameAttribute(NameOID.COMMON_NAME, _AUTHORITY)]
    )
    ca = (
        _builder(authority, ca_key, [x509.DNSName(_AUTHORITY)])
        .issuer_name(authority)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _SERVER)])
    names = [x509.DNSName(_SERVER), x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    server = (
        _builder(subject, key, names)
        .issuer_name(authority)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(_usage(signs=False), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    return WebhookCertificate(ca.public_bytes(pem), _written(ca_key), server.public_bytes(pem), _written(key))


def _builder(subject: x509.Name, key: rsa.RSAPrivateKey, names: list[x509.GeneralName]) -> x509.CertificateBuilder:
    made = x509.CertificateBuilder().subject_name(subject).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number()).not_valid_before(_FROM).not_valid_after(_UNTIL)
    return made.add_extension(x509.SubjectAlternativeName(names), critical=False)


def _usage(signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=True,
        key_cert_sign=signs,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _written(key: rsa.RSAPrivateKey) -> bytes:
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
