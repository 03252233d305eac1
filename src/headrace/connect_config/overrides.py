"""The policies of client overrides: `producer.override.` and its like (KIP-458)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headrace.config import ConfigValue
from headrace.config.client_options import client_definition
from headrace.config.prefixes import under
from headrace.errors import ConfigError, ConnectError
from headrace.kafka.client_settings import OVERRIDE_PREFIXES
from headrace.kafka.client_settings import overrides as overrides_of

_PRINCIPAL = frozenset({"sasl.jaas.config", "sasl.mechanism", "security.protocol"})
_SUFFIX = "ConnectorClientConfigOverridePolicy"

Policy = Callable[[str], str | None]
"""Takes the name of a client setting; returns why it may not be overridden, None if it may."""


def policy(name: str, allowlist: Sequence[str] = ()) -> Policy:
    """The policy of this name (`All`, `None`, `Principal`, `Allowlist`, or Kafka's full class name).

    allowlist: `connector.client.config.override.allowlist`. Raises ConfigError for an unknown name.
    """
    allowed: dict[str, Callable[[str], bool]] = {
        "All": lambda _key: True,
        "None": lambda _key: False,
        "Principal": _PRINCIPAL.__contains__,
        "Allowlist": frozenset(allowlist).__contains__,
    }
    short = name.rpartition(".")[2].removesuffix(_SUFFIX)
    if short not in allowed:
        raise ConfigError(
            f"Failed to find any class that implements {_SUFFIX} and which name matches {name}, "
            f"available classes are: {', '.join(allowed)}"
        )

    def refuse(key: str) -> str | None:
        if allowed[short](key):
            return None
        return f"The '{short}' policy does not allow '{key}' to be overridden in the connector configuration."

    return refuse


def permitted(props: Mapping[str, Any], client: str, refuse: Policy) -> dict[str, str]:
    """The overrides of one client, to make it with. Raises ConnectError if the policy refuses one of them.

    A validation does not see all of them: the policy may have changed since, and it asks about the clients only that Kafka
    Connect makes.
    """
    overrides = overrides_of(props, client)
    refusals = [why for why in map(refuse, overrides) if why]
    if refusals:
        raise ConnectError(f"Client Config Overrides not allowed: {' '.join(refusals)}")
    return overrides


def validate(props: Mapping[str, Any], client: str, refuse: Policy) -> list[ConfigValue]:
    """Check the overrides of one client; names in the result are those of the client, without prefix.

    Raises ConfigError for a value that the client's own option cannot be read from: Kafka Connect fails the whole
    validation.
    """
    options, values = client_definition(client).options, []
    for key, value in under(props, OVERRIDE_PREFIXES[client]).items():
        parsed = options[key].read(value) if key in options else value
        why = refuse(key)
        values.append(ConfigValue(key, parsed, errors=[why] if why else []))
    return values
