"""Records what MirrorMaker's own classes make of options, formats, policies and mm2.properties.

`python -m tests.golden.mirror.record`; needs a JDK (`javac`) and the jars of `headrace jars --peers`; writes `mirror.json`.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from headrace.config import load_properties
from headrace.jvm.jars import jars

HERE = Path(__file__).parent
GOLDEN = HERE / "mirror.json"


def record() -> None:
    """Compile Mirror.java, run it on mm2.properties, and keep its answers."""
    classpath = ":".join(str(jar) for jar in jars("peers"))
    with tempfile.TemporaryDirectory() as directory:
        given = Path(directory) / "input.json"
        given.write_text(json.dumps({"properties": load_properties(HERE / "mm2.properties")}))
        subprocess.run(["javac", "-nowarn", "-cp", classpath, "-d", directory, str(HERE / "Mirror.java")], check=True)
        command = ["java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", f"{directory}:{classpath}"]
        subprocess.run([*command, "org.apache.kafka.connect.mirror.Mirror", str(given), str(GOLDEN)], check=True)
    GOLDEN.write_text(json.dumps(json.loads(GOLDEN.read_text()), indent=1, sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    record()
