"""Checks of a worker file: whether it is valid, has mistyped settings, or something with which no worker starts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

from headrace.doctor import start_settings
from headrace.doctor.finding import Finding, ok, warning, wrong
from headrace.errors import HeadraceError
from headrace.runtime.java_plugins import install_for_worker
from headrace.runtime.standalone_config import read_worker_config, worker_config_class
from headrace.runtime.worker_config import WorkerConfig

_SIMILAR = 0.85
"""The similarity with which an unknown setting counts as mistyped; other unknown settings belong to plugins."""


def read(props: Mapping[str, str], scans: bool = True) -> tuple[WorkerConfig | None, list[Finding]]:
    """The configuration, None if it is invalid, and the findings.

    scans: whether the classes on `plugin.path`, which the file may name, can be found: the jars for it are there.
    """
    remedy = "correct it in the worker file"
    if props.get("plugin.path") and not scans:
        remedy = f"{remedy}; a class on plugin.path is found once Java and the jars are there"
    try:
        if scans:
            install_for_worker(props)
        config = read_worker_config(props)
    except HeadraceError as error:
        return None, [wrong("config", sentence.rstrip("."), remedy) for sentence in _errors(props, error)]
    findings = list(dict.fromkeys([*_mistyped(config), *start_settings.problems(config)]))
    return config, findings or [ok("config", "the worker file can be read")]


def _errors(props: Mapping[str, str], first_error: HeadraceError) -> Iterable[str]:
    """The error with which a worker would end, and the errors of other settings, except values with placeholders."""
    values = worker_config_class(props).definition().validate(props)
    messages = (value.errors[0] for value in values if value.errors and "${" not in props.get(value.name, ""))
    return dict.fromkeys([str(first_error), *messages])


def _mistyped(config: WorkerConfig) -> Iterator[Finding]:
    known_settings = list(type(config).definition().options)
    for key in sorted(config.originals.keys() - set(known_settings)):
        similar = difflib.get_close_matches(key, known_settings, 1, _SIMILAR)
        if similar and similar[0] not in config.originals:
            yield warning("config", f"nothing reads the setting '{key}'", f"write '{similar[0]}' if that is meant")
