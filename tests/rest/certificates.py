"""Keys and certificates for tests, made by openssl: one authority, a server for localhost, a client."""

from __future__ import annotations

import subprocess
from pathlib import Path

PASSWORD = "changeit"


def openssl(*arguments: str, directory: Path) -> None:
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)


class Certificates:
    """Files in a directory: `ca.pem`, and of "server" and "client" each `.key`, `.crt`, `.pem` (both) and `.p12`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        new = ("req", "-newkey", "rsa:2048", "-nodes", "-subj")
        openssl(*new, "/CN=authority", "-x509", "-days", "2", "-keyout", "ca.key", "-out", "ca.pem", directory=directory)
        (directory / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        for name in ("server", "client"):
            openssl(*new, f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr", directory=directory)
            openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                    "-extfile", "names", "-out", f"{name}.crt", directory=directory)  # fmt: skip
            (directory / f"{name}.pem").write_text(self.text(f"{name}.key") + self.text(f"{name}.crt"))
            openssl("pkcs12", "-export", "-in", f"{name}.crt", "-inkey", f"{name}.key", "-name", name, "-out", f"{name}.p12",
                    "-passout", f"pass:{PASSWORD}", directory=directory)  # fmt: skip

    def path(self, name: str) -> str:
        return str(self.directory / name)

    def text(self, name: str) -> str:
        return (self.directory / name).read_text()
