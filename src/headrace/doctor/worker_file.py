"""Checks of a worker file: whether it is valid, has mistyped settings, or leaves the REST API unprotected."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

from headrace.doctor.finding import Finding, ok, warning, wrong
from headrace.errors import HeadraceError
from headrace.runtime.standalone_config import read_worker_config, worker_config_class
from headrace.runtime.worker_config import WorkerConfig

_SIMILAR = 0.85
"""The similarity with which an unknown setting counts as mistyped; other unknown settings belong to plugins."""


def read(props: Mapping[str, str]) -> tuple[WorkerConfig | None, list[Finding]]:
    """The configuration, None if it is invalid, and the findings."""
    try:
        config = read_worker_config(props)
    except HeadraceError as error:
        return None, [
            wrong("config", sentence.rstrip("."), "correct it in the worker file") for sentence in _errors(props, error)
        ]
    findings = [*_mistyped(config), *_open_to_network(config)]
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


def _open_to_network(config: WorkerConfig) -> Iterator[Finding]:
    reachable = [listener for listener in config.listening() if listener.host not in ("localhost", "127.0.0.1", "::1")]
    protected = config.rest_authentication == "basic" or config.rest_extensions or config.ssl_client_auth == "required"
    if reachable and not protected:
        yield warning(
            "config",
            "the REST API listens beyond this machine without authentication",
            "set rest.authentication=basic, or keep the network closed",
        )
