"""The jars beside PySpark's own: retrieved once by the Ivy inside the PySpark wheel, kept in headrace's cache.

The cache is `$HEADRACE_HOME`, else `headrace` in the user's cache directory:

    ivy/                        what Ivy downloaded; shared by all versions of headrace
    jars/<conf>-<hash>/*.jar    one configuration of ivy.xml; <hash> is that of the file, so its change resolves again
    jars/headrace-<hash>.jar    headrace's own Java classes, compiled here
    jars/connect-<hash>.jar     those that run beside Kafka Connect's plugins, never on Spark's class path
    jars/<name>-unsigned.jar    a signed jar of the PySpark wheel without its signature

Everything appears under its final name by one rename, under a lock between processes, so what is there is whole.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TextIO

from headrace.errors import SetupError
from headrace.jvm.java import find_java

Conf = Literal[
    "spark", "broker", "peers", "postgresql", "delta", "connect", "compiler", "avro-data",
    "postgres-linux-amd64", "postgres-linux-arm64v8", "postgres-darwin-amd64", "postgres-darwin-arm64v8",
]  # fmt: skip
Progress = Callable[[str], None]

IVY_FILE = Path(__file__).with_name("ivy.xml")
JAVA_SOURCES = Path(__file__).with_name("java")
CONNECT_SOURCES = Path(__file__).with_name("connect")


def home() -> Path:
    """The directory of everything that headrace fetches or builds on this machine; it may be deleted at any time."""
    chosen = os.environ.get("HEADRACE_HOME")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headrace"


def directory(conf: Conf) -> Path:
    """Where the jars of one configuration of ivy.xml are, once they are retrieved."""
    return home() / "jars" / f"{conf}-{_digest([IVY_FILE])}"


def jars(conf: Conf, progress: Progress | None = None) -> list[Path]:
    """The jars of one configuration of ivy.xml, sorted by name; retrieved on first use.

    `progress` is called with what is being fetched, a few words at a time. Raises SetupError if Java is missing, the cache
    cannot be written, or something cannot be fetched. A mirror is named by an Ivy settings file,
    `$HEADRACE_IVY_SETTINGS`.
    """
    target = directory(conf)
    if not target.is_dir():
        with claimed(target, progress) as partial:
            if partial:
                retrieve(conf, partial, progress or _ignore, IVY_FILE)
    return sorted(target.glob("*.jar"))


def classpath(conf: Conf, progress: Progress | None = None) -> str:
    """The jars of one configuration as the value of Java's `-cp`; like `jars()` otherwise."""
    return os.pathsep.join(map(str, jars(conf, progress)))


def extension_jar(progress: Progress | None = None) -> Path:
    """The jar of headrace's own Java classes, for `spark.jars`; compiled on first use.

    Users have no JDK: Eclipse's compiler, one jar, compiles them. Raises SetupError as `jars()` does.
    """
    sources = sorted(JAVA_SOURCES.rglob("*.java"))
    target = home() / "jars" / f"headrace-{_digest([IVY_FILE, *sources])}.jar"
    if not target.is_file():
        libraries = os.pathsep.join([classpath("spark", progress), *map(str, wheel_jar("ivy").parent.glob("*.jar"))])
        compiler = classpath("compiler", progress)  # here: the cache is locked below
        with claimed(target, progress) as partial:
            if partial:
                (progress or _ignore)("compiling headrace's Java classes")
                _compile(compiler, sources, libraries, partial)
    return target


def connect_classpath(progress: Progress | None = None) -> list[Path]:
    """The jars in which plugins of Kafka Connect run: its API, what loads plugins, and headrace's host, compiled on first use.

    Raises SetupError as `jars()` does.
    """
    sources = sorted(CONNECT_SOURCES.rglob("*.java"))
    target = home() / "jars" / f"connect-{_digest([IVY_FILE, *sources])}.jar"
    libraries = jars("connect", progress)
    if not target.is_file():
        compiler = classpath("compiler", progress)
        logging = map(wheel_jar, ("slf4j-api", "log4j-api", "log4j-core"))
        class_path = os.pathsep.join(map(str, [*libraries, *logging]))
        with claimed(target, progress) as partial:
            if partial:
                (progress or _ignore)("compiling the host of Kafka Connect's plugins")
                _compile(compiler, sources, class_path, partial)
    return [*libraries, target]


def wheel_jar(artifact: str) -> Path:
    """The jar of an artifact (`ivy`, `janino` …) that the PySpark wheel brings."""
    spec = importlib.util.find_spec("pyspark")  # found, not imported: that alone would take most of a second
    places = list(spec.submodule_search_locations or []) if spec else []
    for place in places:
        for jar in sorted(Path(place, "jars").glob(f"{artifact}-[0-9]*.jar")):
            return jar
    raise SetupError(f"The jar of {artifact} is not in the installed pyspark ({places or 'none'}); reinstall headrace.")


def unsigned_jar(artifact: str) -> Path:
    """A copy of a jar of the PySpark wheel without its signature; made on first use.

    Java verifies each class of a signed jar when it loads it, and leaves it out of its archive (`headrace.jvm.class_archive`).
    Raises SetupError as `jars()` does.
    """
    signed = wheel_jar(artifact)
    target = home() / "jars" / f"{signed.stem}-unsigned.jar"
    if not target.is_file():
        with claimed(target, None) as partial:
            if partial:
                _copy_unsigned(signed, partial)
    return target


def retrieve(conf: str, into: Path, progress: Progress, module: Path) -> None:
    """Resolve one configuration of an ivy.xml with Ivy, and copy its artifacts into a directory. Raises SetupError."""
    ivy = home() / "ivy"
    command = [str(find_java().program), f"-Divy.default.ivy.user.dir={ivy}", "-jar", str(wheel_jar("ivy"))]
    settings = os.environ.get("HEADRACE_IVY_SETTINGS")
    command += ["-settings", settings] if settings else []
    command += ["-ivy", str(module), "-cache", str(ivy), "-confs", conf]
    command += ["-retrieve", f"{into}/[artifact]-[revision].[ext]"]
    output = []
    progress(f"resolving the jars of '{conf}'")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            output.append(line.strip())
            if fetching := re.match(r"downloading \S*/(\S+) \.\.\.", output[-1]):
                progress(f"fetching {fetching[1]}")
    if process.returncode or not into.is_dir():
        raise SetupError(_why_ivy_failed(conf, output))


def _why_ivy_failed(conf: str, output: list[str]) -> str:
    """One sentence with Ivy's own lines on what it could not find, and the reason if a server could not be reached."""
    missing = list(dict.fromkeys(line[2:].strip() for line in output if re.match(r":: \S+#\S+;", line)))
    access = re.search(r"Server access error at url \S+ \((.*?)\)", "\n".join(output))
    problem = "; ".join(missing) or next((line for line in output if "Exception" in line or "rror" in line), "no output")
    reason = f" ({access[1]})" if access else ""
    return (
        f"Ivy could not retrieve the jars of '{conf}': {problem}{reason}; "
        "check the network, or name a mirror by an Ivy settings file in HEADRACE_IVY_SETTINGS."
    )


def _compile(compiler: str, sources: list[Path], class_path: str, into: Path) -> None:
    """Compile Java files with Eclipse's compiler and zip the classes."""
    classes = into.with_suffix(".classes")
    shutil.rmtree(classes, ignore_errors=True)
    classes.mkdir()
    command = [str(find_java().program), "-jar", compiler]
    command += ["--release", "17", "-nowarn", "-proc:none", "-encoding", "UTF-8", "-d", str(classes)]
    command += ["-classpath", class_path, *map(str, sources)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    compiled = sorted(classes.rglob("*.class"))
    if result.returncode or not compiled:
        output = (result.stderr or result.stdout).strip().splitlines()
        raise SetupError(f"headrace's Java classes do not compile: {' '.join(output) if output else 'the compiler said nothing'}")
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as jar:
        for file in compiled:
            jar.write(file, file.relative_to(classes))
    shutil.rmtree(classes)


def _copy_unsigned(signed: Path, into: Path) -> None:
    """Copy a jar without the signature and the manifest, which has the digests of its classes."""
    with zipfile.ZipFile(signed) as jar, zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as copy:
        for entry in jar.infolist():
            if entry.filename != "META-INF/MANIFEST.MF" and not re.fullmatch(r"META-INF/[^/]+\.(SF|RSA|DSA|EC)", entry.filename):
                copy.writestr(entry, jar.read(entry))


@contextmanager
def claimed(target: Path, progress: Progress | None) -> Iterator[Path | None]:
    """Make a file or directory appear whole: yields the name to build it under, which becomes the target at the end.

    Yields None if another process made it while this one waited for the lock.
    """
    partial = target.with_name(target.name + ".partial")
    try:
        lock = _lock_file(target)
    except OSError as error:
        raise SetupError(
            f"The cache directory {home()} cannot be written ({error.strerror}); set HEADRACE_HOME to one that can."
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            (progress or _ignore)("waiting for another headrace that fetches jars")
            fcntl.flock(lock, fcntl.LOCK_EX)
        if target.exists():
            yield None
            return
        shutil.rmtree(partial, ignore_errors=True)  # of a run that was killed
        yield partial
        partial.rename(target)


def can_keep(target: Path) -> bool:
    """Whether `claimed` can make this file or directory; false with a cache that is read-only, as in an image."""
    try:
        _lock_file(target).close()
    except OSError:
        return False
    return True


def _lock_file(target: Path) -> TextIO:
    target.parent.mkdir(parents=True, exist_ok=True)
    return (target.parent / ".lock").open("w")


def _digest(files: list[Path]) -> str:
    """Twelve hexadecimal digits that change with the content of the files."""
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _ignore(_: str) -> None:
    """Ignore progress."""
