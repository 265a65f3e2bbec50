"""Certificates of an API server that an authority of the test's own signs, one after the other."""

import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from fairway.lab.kubereal.certificates import pair


class Authority:
    """`flags` have an API server use what was issued last; it reads it anew when it changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pair = pair()
        self.certificate = self._pair.ca
        self.flags = (f"--tls-cert-file={folder / 'tls.crt'}", f"--tls-private-key-file={folder / 'tls.key'}")

    def issue(self) -> int:
        """Another certificate for the same names; its serial number."""
        former = x509.load_pem_x509_certificate(self._pair.certificate)
        key = serialization.load_pem_private_key(self._pair.ca_key, None)
        made = x509.CertificateBuilder().subject_name(former.subject).issuer_name(former.issuer)
        made = made.public_key(former.public_key()).serial_number(x509.random_serial_number())
        made = made.not_valid_before(former.not_valid_before_utc).not_valid_after(former.not_valid_after_utc)
        for extension in former.extensions:
            made = made.add_extension(extension.value, extension.critical)
        signed = made.sign(key, hashes.SHA256())  # type: ignore[arg-type]  # an RSA key, as pair() makes them
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "tls.key").write_bytes(self._pair.key)
        (self._folder / "tls.crt").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        return signed.serial_number


def shown(port: int) -> int:
    """The serial number of the certificate that a server on this machine shows now."""
    found = x509.load_pem_x509_certificate(ssl.get_server_certificate(("127.0.0.1", port)).encode())
    return found.serial_number
