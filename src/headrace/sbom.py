"""The software bill of materials, CycloneDX 1.6 in JSON: headrace's Python packages, those of installed extras among them, the
jars that it fetches, and those in the PySpark wheel.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable
from importlib import metadata
from typing import Any

from headrace import __version__
from headrace.jvm.inventory import Jar

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)\s*(\[(?P<extras>[^\]]*)\])?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_PYSPARK = "pyspark"


def sbom(jars: Iterable[Jar], of_pyspark: Iterable[Jar]) -> dict[str, Any]:
    """The document. jars: what `headrace.jvm.inventory` found; of_pyspark: the jars in the PySpark wheel. Equal if what it lists
    is: it has no time, and its number is made of its content.
    """
    graph = _python("headrace")
    python = [_package(name) for name in sorted(graph) if name != "headrace"]
    java = {by: [_jar(jar) for jar in listed] for by, listed in (("headrace", jars), (_PYSPARK, of_pyspark))}
    root = {
        "type": "application",
        "bom-ref": _purl("headrace"),
        "name": "headrace",
        "version": __version__,
        "purl": _purl("headrace"),
    }
    needs = {name: {*map(_purl, graph[name]), *(jar["bom-ref"] for jar in java.get(name, ()))} for name in sorted(graph)}
    dependencies = [{"ref": _purl(name), "dependsOn": sorted(refs)} for name, refs in needs.items()]
    # A jar that is fetched and in the wheel, too, is one component.
    components = {body["bom-ref"]: body for body in (*python, *java["headrace"], *java[_PYSPARK])}
    content = {"metadata": {"component": root}, "components": list(components.values()), "dependencies": dependencies}
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{number}", "version": 1, **content}


def _python(root: str) -> dict[str, set[str]]:
    """The installed packages that one needs, those of its installed extras included: by name, what each needs in turn."""
    graph = dict[str, set[str]]()
    extras, waiting = {root: _installed_extras(root)}, [root]
    while waiting:
        name = waiting.pop()
        graph[name] = set()
        for text in metadata.requires(name) or ():
            only, match = set(_EXTRA.findall(text)), _REQUIREMENT.match(text)
            need = _normal(match["name"]) if match else ""
            if (only and not only & extras[name]) or not match or not _installed(need):  # the others are for other systems
                continue
            graph[name] |= {need} - {name}  # an extra may ask for others of the same package
            asked = {extra.strip() for extra in (match["extras"] or "").split(",") if extra.strip()}
            if need not in extras or not asked <= extras[need]:
                extras[need] = extras.get(need, set()) | asked
                waiting.append(need)
    return graph


def _installed_extras(name: str) -> set[str]:
    """The extras of a package of which every requirement is installed."""
    needed: dict[str, list[str]] = {}
    for text in metadata.requires(name) or ():
        if match := _REQUIREMENT.match(text):
            for extra in _EXTRA.findall(text):
                needed.setdefault(extra, []).append(_normal(match["name"]))
    return {extra for extra, names in needed.items() if all(map(_installed, names))}


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
