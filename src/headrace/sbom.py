"""The software bill of materials, CycloneDX 1.6 in JSON: headrace's Python packages and the jars that it fetches."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable
from importlib import metadata
from typing import Any

from headrace import __version__
from headrace.jvm.inventory import Jar

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_EXTRA = re.compile(r"extra\s*==")


def sbom(jars: Iterable[Jar]) -> dict[str, Any]:
    """The document. jars: what `headrace.jvm.inventory` found. Equal if what it lists is: it has no time, and its number is
    made of its content.
    """
    graph = _python("headrace")
    python = [_package(name) for name in sorted(graph) if name != "headrace"]
    java = [_jar(jar) for jar in jars]
    root = {
        "type": "application",
        "bom-ref": _purl("headrace"),
        "name": "headrace",
        "version": __version__,
        "purl": _purl("headrace"),
    }
    dependencies = [{"ref": _purl(name), "dependsOn": sorted(map(_purl, needs))} for name, needs in sorted(graph.items())]
    dependencies[[d["ref"] for d in dependencies].index(root["purl"])]["dependsOn"] += [jar["bom-ref"] for jar in java]
    content = {"metadata": {"component": root}, "components": [*python, *java], "dependencies": dependencies}
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{number}", "version": 1, **content}


def _python(root: str) -> dict[str, set[str]]:
    """The installed packages that one needs, without its extras: by name, what each needs in turn."""
    graph: dict[str, set[str]] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name in graph:
            continue
        needs = {
            _normal(match[0])
            for text in metadata.requires(name) or ()
            if not _EXTRA.search(text) and (match := _NAME.match(text))
        }
        graph[name] = {need for need in needs if _installed(need)}  # the others are for other systems
        waiting += graph[name]
    return graph


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _purl(name: str) -> str:
    return f"pkg:pypi/{_normal(name)}@{metadata.version(name) if name != 'headrace' else __version__}"


def _package(name: str) -> dict[str, Any]:
    about = metadata.metadata(name)
    classifiers = [value for value in about.get_all("Classifier", []) if value.startswith("License :: ")]
    named = next((about[key] for key in ("License-Expression", "License") if key in about), "").strip()
    licenses = [named.splitlines()[0][:200]] if named else [value.rpartition(" :: ")[2] for value in classifiers]
    body: dict[str, Any] = {
        "type": "library", "bom-ref": _purl(name), "name": name, "version": metadata.version(name), "purl": _purl(name),
    }  # fmt: skip
    return body | _licenses(licenses)


def _jar(jar: Jar) -> dict[str, Any]:
    body: dict[str, Any] = {"type": "library", "bom-ref": jar.purl, "name": jar.name, "version": jar.version, "purl": jar.purl}
    if jar.group:
        body["group"] = jar.group
    return body | {"hashes": [{"alg": "SHA-256", "content": jar.sha256}]} | _licenses(jar.licenses)


def _licenses(names: Iterable[str]) -> dict[str, Any]:
    licenses = [{"license": {"name": name}} for name in dict.fromkeys(names)]
    return {"licenses": licenses} if licenses else {}
