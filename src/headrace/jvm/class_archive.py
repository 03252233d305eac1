"""Archives of the classes that Java loads at every start: with them Spark and the embedded broker start in half the time.

Java calls it class data sharing. `headrace jars` makes them (`headrace.cli.archives`); where one is missing or Java cannot use
it, classes are loaded from their jars as ever. They are kept beside the jars:

    archives/<of>-<hash>.jsa    <hash> changes with all that Java compares: its own build; name, size and time of each jar
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from headrace.jvm.jars import extension_jar, home, jars, unsigned_jar, wheel_jar
from headrace.jvm.java import find_java

Of = Literal["spark", "broker"]

# Java says on standard output, among what the command is for, if it leaves an archive or a class out.
_QUIET = "-Xlog:cds*=off"


def archive(of: Of) -> Path:
    """The file of Spark's classes or of the broker's, whether or not it has been made; empty if Java could not make it.

    Raises SetupError if Java or the jars are missing.
    """
    wheel_jars = sorted(wheel_jar("ivy").parent.glob("*.jar"))
    class_path = jars("broker") if of == "broker" else [*compiler_jars(), *driver_jars(), *wheel_jars]
    stats = [(jar, jar.stat()) for jar in class_path]
    # Whole seconds, as Java compares them: the layers of an image that was pushed have no fractions.
    compared = [find_java().build, *(f"{jar} {stat.st_size} {int(stat.st_mtime)}" for jar, stat in stats)]
    digest = hashlib.sha256("\n".join(compared).encode()).hexdigest()[:12]
    return home() / "archives" / f"{of}-{digest}.jsa"


def driver_jars() -> list[Path]:
    """What precedes Spark's own jars on the driver's class path, so that it is archived: Kafka's clients, headrace's Java.

    Fetched or compiled on first use; raises SetupError as `headrace.jvm.jars.jars` does.
    """
    return [*jars("spark"), extension_jar()]


def compiler_jars() -> list[Path]:
    """What precedes those in the driver: the compiler of Spark's generated code, which is signed in the PySpark wheel.

    Made on first use; raises SetupError as `headrace.jvm.jars.jars` does.
    """
    return [unsigned_jar("commons-compiler"), unsigned_jar("janino")]


def using(of: Of) -> list[str]:
    """Java's options to use the class archive; empty without one."""
    archive_file = archive(of)
    return [f"-XX:SharedArchiveFile={archive_file}", _QUIET] if archive_file.is_file() and archive_file.stat().st_size else []


def making(file: Path) -> list[str]:
    """Java's options to write an archive of all that it has loaded when it ends in good order."""
    return [f"-XX:ArchiveClassesAtExit={file}", _QUIET]
