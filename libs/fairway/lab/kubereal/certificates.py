"""Keys that a cluster signs with, and a certificate for the operators' webhooks, which the API server calls by URL on
127.0.0.1."""

from functools import lru_cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Struct

from fairway.lab.kubesim.http.certificate import LOCALHOST, builder, usage
from fairway.runtime import private_files

# training-operator replaces a pair that names anything else, or that ends within 90 days.
_AUTHORITY = "training-operator-ca"
_SERVER = "training-operator.kubeflow.svc"
_USES = ("digital_signature", "key_encipherment")


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
    ca_key = private_key()
    key = private_key()
    authority = x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "fairway"), x509.NameAttribute(NameOID.COMMON_NAME, _AUTHORITY)]
    )
    ca = (
        builder(authority, ca_key.public_key(), x509.DNSName(_AUTHORITY))
        .issuer_name(authority)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage(*_USES, "key_cert_sign"), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _SERVER)])
    server = (
        builder(subject, key.public_key(), x509.DNSName(_SERVER), *LOCALHOST)
        .issuer_name(authority)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(usage(*_USES), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    return WebhookCertificate(ca.public_bytes(pem), written(ca_key), server.public_bytes(pem), written(key))


def private_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def written(key: rsa.RSAPrivateKey) -> bytes:
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
