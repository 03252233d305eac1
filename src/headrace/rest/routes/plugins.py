"""`/connector-plugins`: what can be configured, its options, and the check of a configuration (KIP-769)."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from headrace import KAFKA_VERSION, plugins
from headrace.cluster.herder import Herder
from headrace.config.java_classes import creatable, java_class
from headrace.connect_config.versions import VersionRange, version_range, with_version
from headrace.errors import BadRequestError, ConfigError, ConnectError, NotFoundError
from headrace.plugins import Kind
from headrace.rest import body, responses
from headrace.rest.caller import caller_of
from headrace.rest.resource import JsonBody, Resource, TrueByDefault
from headrace.rest.roles import Role

CONNECTORS = (Kind.SINK, Kind.SOURCE)
OTHER_KINDS = (Kind.TRANSFORMATION, Kind.PREDICATE, Kind.CONVERTER, Kind.HEADER_CONVERTER)
_POLICIES = "All|None|Principal|Allowlist"
_WITHOUT_OPTIONS = re.compile(
    r"(org\.apache\.kafka\.common\.config\.provider\.)?(?P<provider>(File|Directory|EnvVar)ConfigProvider)|"
    rf"(org\.apache\.kafka\.connect\.connector\.policy\.)?(?P<policy>{_POLICIES})ConnectorClientConfigOverridePolicy|"
    rf"(?P<alias>{_POLICIES})"
)
"""Names of plugins of other kinds: they are there, but their options are not to be had here."""

resource = Resource("connector-plugins")


@resource.get("/connector-plugins", gives={200: "Plugins"})
def list_plugins(herder: Herder, connectors_only: Annotated[TrueByDefault, Query(alias="connectorsOnly")] = True) -> Response:
    """The connectors; with `connectorsOnly=false` transformations, predicates and converters too."""
    kinds = CONNECTORS if connectors_only else CONNECTORS + OTHER_KINDS
    listed = {tuple(entry.items()): entry for kind in kinds for entry in map(_listed, plugins.every(kind))}
    return responses.ok(list(listed.values()))  # what lies in several locations is one plugin, as in Kafka Connect


def _listed(cls: type[Any]) -> dict[str, Any]:
    version = {} if cls.version == plugins.NO_VERSION else {"version": cls.version}  # as Kafka Connect does
    return {"class": cls.plugin_name, "type": cls.plugin_kind, **version}


@resource.get("/connector-plugins/{plugin}/config", gives={200: "Definitions"}, errors=[400, 404])
def plugin_config(herder: Herder, plugin: str, version: str | None = None) -> Response:
    """The definitions of a plugin's options; `version`: a version, or range of them, that it must have (KIP-891)."""
    try:
        requested = version_range(version)
    except ConfigError:
        raise BadRequestError(f"Invalid version specification: {version}") from None
    return responses.ok(herder.plugin_config(with_version(_find(plugin, requested), version)))


@resource.put("/connector-plugins/{plugin}/config/validate", takes="NewConfig", gives={200: "Validation"}, errors=[400])
def validate_config(herder: Herder, plugin: str, request: Request, entity: JsonBody) -> Response:
    """Check a configuration: each option with its definition, value, recommended values and errors; changes nothing."""
    is_admin = caller_of(request.scope).role >= Role.ADMIN  # others could ask by errors what a config provider's value is
    config = body.texts(entity, "the configuration")
    if config is None:
        raise ConnectError("The request has no body; expected a connector's configuration.")
    return responses.ok(herder.validate(plugin, config, look_up=is_admin))


def _find(name: str, requested: VersionRange | None) -> Any:
    if other := _WITHOUT_OPTIONS.fullmatch(name):
        full, version = _full_name(other)
        if requested is not None and not requested.contains(version):
            raise BadRequestError(
                f"Plugin {full} not found that matches the version range {requested}, available versions: [{version}]"
            )
        raise _invalid(name)
    for kind in CONNECTORS + OTHER_KINDS:
        try:
            return plugins.find(name, kind)
        except NotFoundError:
            continue
    if java_class(name) is None:
        raise NotFoundError(f"Unknown plugin {name}.")
    if requested is not None:
        mechanism = "Connect's plugin loading mechanism (ClassPath or Plugin Path)"
        raise BadRequestError(f"Plugin {name} is not part of {mechanism}")
    raise _invalid(name) if creatable(name) else ConnectError("Instantiation error")


def _full_name(other: re.Match[str]) -> tuple[str, str]:
    """The class that a name of `_WITHOUT_OPTIONS` stands for, and its version."""
    if other["provider"]:
        return f"org.apache.kafka.common.config.provider.{other['provider']}", plugins.NO_VERSION
    policy = other["policy"] or other["alias"]
    return f"org.apache.kafka.connect.connector.policy.{policy}ConnectorClientConfigOverridePolicy", KAFKA_VERSION


def _invalid(name: str) -> BadRequestError:
    kinds = ", ".join((*CONNECTORS, *OTHER_KINDS[2:], *OTHER_KINDS[:2]))
    return BadRequestError(f"Invalid plugin class {name}. Valid types are {kinds}.")
