"""A project folder, read: `project.toml`, `topics.toml`, `connectors/`, `tests/`.

[environments.dev]
url = "http://localhost:8083"       the REST API of any worker
worker = "worker.properties"        for tests: converters, plugin.path; may be left out
[environments.dev.values]
kafka = "localhost:9092"            stands where a setting of a connector has {{kafka}}
[environments.dev.kafka]
bootstrap.servers = "{{kafka}}"     client settings of the cluster of the topics and streams applications
[applications.revenue]
app = "apps/revenue.py:topology"    as `headrace streams` takes it
config = "apps/revenue.properties"  its settings; may be left out

In `topics.toml`:

[orders]
partitions = 6
replication.factor = "{{replicas}}"
cleanup.policy = "compact"          and other settings of the topic
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

from headrace.cli.connectors.files import ConnectorFile, read_all
from headrace.config import load_properties
from headrace.config.providers import configured_resolver
from headrace.connectors.topic_settings import TopicSettings
from headrace.errors import ConfigError

FILE = "project.toml"
_PLACE = re.compile(r"\{\{\{\{(?P<text>[^{}]*)\}\}\}\}|\{\{\s*(?P<name>[^{}]*[^{}\s])\s*\}\}")
"""The place of a value: with any name, so that a mistyped one is a name without a value, and no text for a worker; or with four
braces the text for a worker that has templates of its own.
"""
_PROVIDED = re.compile(r"\$\{[^}]*\}")
"""A placeholder of a config provider."""
TOPICS = "topics.toml"
_TABLES = {"environments", "applications"}
_MEMBERS = {"url", "worker", "values", "kafka"}
_OF_APPLICATION = {"app", "config"}
_SCALARS = str | int | float  # a bool is an int
_PARTITIONS, _REPLICATION_FACTOR = "partitions", "replication.factor"


@dataclass(frozen=True)
class Environment:
    """Where a project is deployed."""

    name: str
    url: str
    """The REST API of any worker; without the values of config providers."""
    values: Mapping[str, str]
    """Of the places `{{ name }}` in the files of the project."""
    worker: Path | None = None
    """A worker file, whose converters are the defaults in tests."""
    kafka: Mapping[str, str] = field(default_factory=dict)
    """Client settings of the cluster of topics and streams applications, config providers among them; without their values."""

    def worker_url(self) -> str:
        """`url` with the values of the providers that `kafka` names. Raises ConfigError for what a provider does not have.

        A user or a password that is one placeholder may have any characters, as a file has them.
        """
        resolver = configured_resolver(self.kafka)
        values = {place: resolver.resolve({"url": place}).props["url"] for place in _PROVIDED.findall(self.url)}
        if unknown := [place for place, value in values.items() if value == place]:
            raise ConfigError(
                f"The url of environment {self.name} has {unknown[0]}, which no config provider has a value for; name the "
                f"provider in [environments.{self.name}.kafka] of {FILE}."
            )

        def value(place: re.Match[str]) -> str:
            around = self.url[place.start() - 1 : place.start()], self.url[place.end() : place.end() + 1]
            is_login = place.end() <= self.url.rfind("@") and around[0] in ("/", ":") and around[1] in (":", "@")
            return quote(values[place[0]], safe="") if is_login else values[place[0]]

        return _PROVIDED.sub(value, self.url)

    def url_setting(self) -> str:
        """Where the user has named the address of the worker, for messages."""
        return f"`url` of environment {self.name} in {FILE}"

    def client_settings(self) -> dict[str, str]:
        """`kafka` with the values of providers. Raises ConfigError for what a provider does not have, or if there are none."""
        if not self.kafka.get("bootstrap.servers"):
            raise ConfigError(
                f"Environment {self.name} does not say where its topics and streams applications are: add "
                f'[environments.{self.name}.kafka] with bootstrap.servers = "localhost:9092" to {FILE}.'
            )
        props = configured_resolver(self.kafka).resolve(self.kafka).props
        return {key: value for key, value in props.items() if not key.startswith("config.providers")}


@dataclass(frozen=True)
class Application:
    """A streams application of a project."""

    name: str
    app: str
    """As `headrace streams` takes it, a file with its path."""
    settings: Mapping[str, str] | None
    """Those of its file; None: it has none, and those of its module count."""


@dataclass(frozen=True)
class ChainTest:
    """Records in, records out, of the chain of a connector."""

    file: Path
    connector: str
    records: list[Any]
    expect: list[Any]
    """For each record: members of its output; null: it is dropped; `{"failure": text}`: it fails with that text.

    Numbers with a decimal point are Decimal: as a float, two decimals may be the same.
    """


def environment(folder: Path, name: str | None) -> Environment:
    """An environment of a project; without a name the first. Raises ConfigError that says what is wrong in the file."""
    file = folder / FILE
    content = _toml(file, "`headrace project init` makes a project.")
    if unknown := sorted(content.keys() - _TABLES):
        raise ConfigError(f"{file} has {', '.join(unknown)}, which nothing reads; it may have {', '.join(sorted(_TABLES))}.")
    environments = content.get("environments")
    if not isinstance(environments, dict) or not environments:
        raise ConfigError(f'{file} has no environments; add a table [environments.dev] with url = "http://localhost:8083".')
    chosen = name or next(iter(environments))
    if chosen not in environments:
        raise ConfigError(f"{file} has no environment '{chosen}'; it has {', '.join(environments)}.")
    return _environment(file, chosen, environments[chosen])


def _environment(file: Path, name: str, table: Any) -> Environment:
    where = f"environments.{name} of {file}"
    if not isinstance(table, dict) or not isinstance(table.get("url"), str):
        raise ConfigError(f"{where} has no `url`, the address of a worker's REST API.")
    if unknown := sorted(table.keys() - _MEMBERS):
        raise ConfigError(f"{where} has {', '.join(unknown)}, which nothing reads; it may have {', '.join(sorted(_MEMBERS))}.")
    values, client_settings, worker = table.get("values", {}), table.get("kafka", {}), table.get("worker")
    if not isinstance(values, dict) or not all(isinstance(value, _SCALARS) for value in values.values()):
        raise ConfigError(f"The values of {where} have to be texts, numbers or booleans.")
    if not isinstance(client_settings, dict):
        raise ConfigError(
            f"{where}: `kafka` has to be a table [environments.{name}.kafka] of client settings, with bootstrap.servers among "
            f"them; a value for {{{{kafka}}}} belongs under [environments.{name}.values]."
        )
    if not isinstance(worker, str | None):
        raise ConfigError(f"{where}: `worker` has to be a text, the name of a worker file.")
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
    kafka, missing = _rendered(client_settings, texts, f"kafka of {where}")
    if missing:
        raise ConfigError(f"{where}: kafka has {{{{{missing[0]}}}}}, which has no value.")
    url, missing = render(table["url"], texts)
    if missing:
        raise ConfigError(f"{where}: url has {{{{{missing[0]}}}}}, which has no value.")
    return Environment(name, url, texts, file.parent / worker if worker is not None else None, kafka)


def topics(folder: Path, env: Environment) -> dict[str, TopicSettings]:
    """The topics of a project by name; none without the file. Raises ConfigError with all that is wrong."""
    file, problems, topics = folder / TOPICS, list[str](), {}
    for name, table in (_toml(file) if file.exists() else {}).items():
        if not isinstance(table, dict):
            problems.append(f"{file}: {name} is in no table; a topic is a table [NAME].")
            continue
        try:
            settings, missing = _rendered(table, env.values, f"{name} of {file}")
        except ConfigError as error:
            problems.append(error.message)
            continue
        counts = (f".{_PARTITIONS}", f".{_REPLICATION_FACTOR}")
        if inner := next((key for key in settings if key.endswith(counts)), None):
            whole = f"{name}.{inner.removesuffix(counts[0]).removesuffix(counts[1])}"
            problems.append(f'{file}: {name} has a table in it; a topic whose name has dots is in quotes: ["{whole}"].')
            continue
        problems += [f"{file}: {name} has {{{{{m}}}}}, which environment {env.name} has no value for." for m in missing]
        partitions, replication_factor = settings.pop(_PARTITIONS, ""), settings.pop(_REPLICATION_FACTOR, "")
        if not missing and not (_is_count(partitions) and (_is_count(replication_factor) or replication_factor == "-1")):
            problems.append(
                f"{file}: {name} has to have `{_PARTITIONS}`, 1 or more, and `{_REPLICATION_FACTOR}`, 1 or more, or -1 for the "
                "broker's default; a topic whose name has dots is in quotes."
            )
        elif not missing:
            topics[name] = TopicSettings(name, int(partitions), int(replication_factor), settings)
    if problems:
        raise ConfigError("\n".join(problems))
    return topics


def applications(folder: Path, env: Environment) -> list[Application]:
    """The streams applications of a project, with the values of an environment. Raises ConfigError, SetupError."""
    file = folder / FILE
    tables = _toml(file).get("applications", {})
    if not isinstance(tables, dict):
        raise ConfigError(f"{file}: an application is a table [applications.NAME].")
    return [_application(file, name, table, env) for name, table in tables.items()]


def _application(file: Path, name: str, table: Any, env: Environment) -> Application:
    where = f"applications.{name} of {file}"
    if not isinstance(table, dict) or not isinstance(table.get("app"), str):
        raise ConfigError(f"{where} has no `app`, its topology as module:name or file.py:name.")
    if unknown := sorted(table.keys() - _OF_APPLICATION):
        raise ConfigError(f"{where} has {', '.join(unknown)}, which nothing reads; it may have app, config.")
    app: str = table["app"]
    if app.partition(":")[0].endswith(".py"):
        app = str(file.parent / app)
    if "config" not in table:
        return Application(name, app, None)
    settings, missing = _rendered(load_properties(file.parent / str(table["config"])), env.values, where)
    if missing:
        raise ConfigError(f"{where}: its config has {{{{{missing[0]}}}}}, which environment {env.name} has no value for.")
    return Application(name, app, settings)


def _toml(file: Path, hint: str = "") -> dict[str, Any]:
    """A TOML file. Raises ConfigError that says what is wrong with it."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}. {hint}".rstrip()) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.") from None


def _rendered(
    table: Mapping[str, Any], values: Mapping[str, str], where: str, prefix: str = ""
) -> tuple[dict[str, str], list[str]]:
    """Settings, whose names TOML has taken apart at their dots, as texts with values in their places; names without a value.

    where: whose settings they are, for messages. Raises ConfigError for a list, a date or a time.
    """
    settings, missing = dict[str, str](), list[str]()
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, list):
            raise ConfigError(f"{where}: {key} is a list; write it as Kafka does, a text with commas.")
        if isinstance(value, dict):
            inner, names = _rendered(value, values, where, f"{key}.")
            settings |= inner
        elif not isinstance(value, _SCALARS):
            raise ConfigError(f"{where}: {key} is a {type(value).__name__} of TOML; write it as a text, in quotes.")
        else:
            settings[key], names = render(value if isinstance(value, str) else json.dumps(value), values)
        missing += names
    return settings, missing


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) > 0


def connectors(folder: Path, env: Environment) -> dict[str, ConnectorFile]:
    """The connectors of a project by name, with the values of an environment; none without their folder.

    Raises ConfigError with all that is wrong.
    """
    problems: list[str] = []
    connectors = dict[str, ConnectorFile]()
    directory = folder / "connectors"
    for file in read_all([directory] if directory.exists() else []):
        config = {}
        for key, text in file.config.items():
            config[key], missing = render(text, env.values)
            problems += [
                f"{file.file}: {key} has {{{{{name}}}}}, which environment {env.name} has no value for; if the connector is to "
                f"have these braces, write {{{{{{{{{name}}}}}}}}}."
                for name in missing
            ]
        connector = replace(file, name=config["name"], config=config)
        other = connectors.setdefault(connector.name, connector)
        if other is not connector:
            problems.append(
                f"{other.file} and {file.file} are both connector {connector.name}, with the values of environment {env.name}."
            )
    if problems:
        raise ConfigError("\n".join(problems))
    return connectors


def render(text: str, values: Mapping[str, str]) -> tuple[str, list[str]]:
    """The text with values in their places, which are not looked into again; and the names that have no value."""
    missing = [place["name"] for place in _PLACE.finditer(text) if place["name"] and place["name"] not in values]

    def value(place: re.Match[str]) -> str:
        return f"{{{{{place['text']}}}}}" if place["name"] is None else values.get(place["name"], place[0])

    return _PLACE.sub(value, text), missing


def chain_tests(folder: Path) -> list[ChainTest]:
    """The tests of a project, by file. Raises ConfigError for a file that is none."""
    return [_chain_test(file) for file in sorted((folder / "tests").glob("*.json"))]


def _chain_test(file: Path) -> ChainTest:
    try:
        text = file.read_text(encoding="utf-8")
        content, exact = json.loads(text), json.loads(text, parse_float=Decimal)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from None
    except (ValueError, ArithmeticError, RecursionError) as error:  # the last for one that is nested too deep
        raise ConfigError(f"{file} is not valid JSON: {error}.") from None
    kinds = {"connector": str, "records": list, "expect": list}
    if not isinstance(content, dict) or content.keys() != kinds.keys():
        raise ConfigError(f"{file} has to be an object of {', '.join(kinds)}.")
    for member, kind in kinds.items():
        if not isinstance(content[member], kind):
            raise ConfigError(f"{file}: `{member}` has to be {'a text' if kind is str else 'a list'}.")
    if len(content["records"]) != len(content["expect"]):
        raise ConfigError(
            f"{file} has {len(content['records'])} records, and {len(content['expect'])} to expect: there is one for each."
        )
    return ChainTest(file, content["connector"], content["records"], exact["expect"])
