"""Checks of a worker file by itself: whether it can be read, what in it is mistyped, and what is open to anybody."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

from headrace.doctor.finding import Finding, ok, warning, wrong
from headrace.errors import HeadraceError
from headrace.runtime.worker_config import WorkerConfig, read_worker_config, worker_config_class

_SIMILAR = 0.85
"""How much a key that nobody knows has to look like one that exists to be called mistyped: others belong to plugins."""


def read(props: Mapping[str, str]) -> tuple[WorkerConfig | None, list[Finding]]:
    """The configuration, None if a worker could not read it, and what is to be said of it."""
    try:
        config = read_worker_config(props)
    except HeadraceError as error:
        return None, [
            wrong("config", sentence.rstrip("."), "correct it in the worker file") for sentence in _errors(props, error)
        ]
    findings = [*_mistyped(config), *_open(config)]
    return config, findings or [ok("config", "the worker file can be read")]


def _errors(props: Mapping[str, str], first: HeadraceError) -> Iterable[str]:
    """The sentence that a worker would end with, and what is wrong with other settings; of placeholders nothing is known here."""
    values = worker_config_class(props).definition().validate(props)
    others = (value.errors[0] for value in values if value.errors and "${" not in props.get(value.name, ""))
    return dict.fromkeys([str(first), *others])


def _mistyped(config: WorkerConfig) -> Iterator[Finding]:
    known = list(type(config).definition().options)
    for key in sorted(config.originals.keys() - set(known)):
        similar = difflib.get_close_matches(key, known, 1, _SIMILAR)
        if similar and similar[0] not in config.originals:
            yield warning("config", f"nothing reads the setting '{key}'", f"write '{similar[0]}' if that is meant")


def _open(config: WorkerConfig) -> Iterator[Finding]:
    reachable = [listener for listener in config.listening() if listener.host not in ("localhost", "127.0.0.1", "::1")]
    protected = config.rest_authentication == "basic" or config.rest_extensions or config.ssl_client_auth == "required"
    if reachable and not protected:
        yield warning(
            "config",
            "the REST API listens beyond this machine and asks nobody who they are",
            "set rest.authentication=basic, or keep the network closed",
        )
