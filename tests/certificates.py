"""Keys and certificates for tests, made by openssl: an authority, a server for localhost, clients."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

PASSWORD = "changeit"
NEEDS_KEYTOOL = pytest.mark.skipif(shutil.which("keytool") is None, reason="this Java has no keytool to make stores with")


def openssl(*arguments: str, directory: Path) -> None:
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)


def keytool(*arguments: str) -> None:
    subprocess.run(["keytool", *arguments, "-noprompt"], check=True, capture_output=True)


class Certificates:
    """Files in a directory: `ca.pem`, and of "server", "client" and "chained" each `.key`, `.crt`, `.pem` (both) and `.p12`.

    The certificate of "chained" is signed by an intermediate authority, which its stores have behind it.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        new = ("req", "-newkey", "rsa:2048", "-nodes", "-subj")
        openssl(*new, "/CN=authority", "-x509", "-days", "2", "-keyout", "ca.key", "-out", "ca.pem", directory=directory)
        (directory / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        (directory / "authority").write_text("basicConstraints=critical,CA:TRUE\n")
        self._sign("intermediate", "ca", "authority", "ca.pem")
        for name, authority in (("server", "ca"), ("client", "ca"), ("chained", "intermediate")):
            self._sign(name, authority, "names", f"{authority}.{'pem' if authority == 'ca' else 'crt'}")
            if authority != "ca":
                (directory / f"{name}.crt").write_text(self.text(f"{name}.crt") + self.text(f"{authority}.crt"))
            (directory / f"{name}.pem").write_text(self.text(f"{name}.key") + self.text(f"{name}.crt"))
            openssl("pkcs12", "-export", "-in", f"{name}.pem", "-name", name, "-out", f"{name}.p12",
                    "-passout", f"pass:{PASSWORD}", directory=directory)  # fmt: skip

    def _sign(self, name: str, authority: str, extensions: str, certificate: str) -> None:
        """Make the key of a name, and its certificate, signed by an authority."""
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr",
                directory=self.directory)  # fmt: skip
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", certificate, "-CAkey", f"{authority}.key", "-CAcreateserial",
                "-days", "2", "-extfile", extensions, "-out", f"{name}.crt", directory=self.directory)  # fmt: skip

    def jks(self, name: str) -> str:
        """The store of a name as JKS; of "ca", a trust store."""
        store = self.path(f"{name}.jks")
        if name == "ca":
            self._trust(store, "JKS")
        else:
            keytool("-importkeystore", "-srckeystore", self.path(f"{name}.p12"), "-srcstorepass", PASSWORD,
                    "-destkeystore", store, "-deststoretype", "JKS", "-deststorepass", PASSWORD)  # fmt: skip
        return store

    def trust_p12(self) -> str:
        """The authority as a trust store of type PKCS12, as Java writes it."""
        store = self.path("ca.p12")
        self._trust(store, "PKCS12")
        return store

    def _trust(self, store: str, kind: str) -> None:
        keytool("-importcert", "-file", self.path("ca.pem"), "-alias", "ca", "-keystore", store, "-storetype", kind,
                "-storepass", PASSWORD)  # fmt: skip

    def path(self, name: str) -> str:
        return str(self.directory / name)

    def text(self, name: str) -> str:
        return (self.directory / name).read_text()
