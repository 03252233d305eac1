"""Writes the tables of options and the reference pages of `docs`: `python -m headrace.docs_pages [directory]`.

A test fails when the files on disk are not what this module would write.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from headrace.config import example
from headrace.config.definition import ConfigDef
from headrace.config.markdown import table
from headrace.config.option import Option
from headrace.reference_pages import decisions_text, llms_text, reference_pages

_NOTICE = "<!-- Written by `python -m headrace.docs_pages` from the declarations; changes here are lost. -->\n"


def pages() -> dict[str, str]:
    """File name → text of every page: workers, what connectors have in common, each connector, converters, transforms.

    Of plugins, those of headrace itself; others that are installed, or that a test made, have their own docs.
    """
    pages = {"options-worker.md": _worker_page(), "options-streams.md": _streams_page(), **_common_pages()}
    for cls in _own("source", "sink"):
        pages[f"options-{_kebab(cls.plugin_name)}.md"] = _connector_page(cls)
    pages["options-converters.md"] = _page("Options of converters", *_sections(_own("converter", "header_converter")))
    pages["options-config-providers.md"] = _page(
        "Options of config providers",
        "Under `config.providers.<name>.param.`, in the properties of a worker ([how](config-providers.md)).",
        *_sections(_own("config_provider")),
    )
    pages["options-transforms.md"] = _page(
        "Options of transforms",
        "Under `transforms.<alias>.`, where `transforms` lists the aliases in order. Every transform also has `type`, its class; "
        "`predicate`, the alias of a predicate that says to which records it applies; and `negate`, `true` to apply it to all "
        "others. `X$Key` changes a record's key, `X$Value` its value.",
        *_sections(_own("transformation")),
        "# Options of predicates",
        "Under `predicates.<alias>.`, where `predicates` lists the aliases. Every predicate also has `type`, its class.",
        *_sections(_own("predicate")),
    )
    return pages | reference_pages()


def _own(*kinds: str) -> list[type[Any]]:
    from headrace import plugins  # loads the whole package, which this one is the base of

    return [cls for cls in plugins.every(*kinds) if cls.__module__.startswith("headrace.")]


def write(directory: Path) -> list[Path]:
    """Write every page into a directory, which is made if absent, and delete pages that are no more.

    Returns the files.
    """
    directory.mkdir(parents=True, exist_ok=True)
    current = pages()
    for stale in set(directory.glob("options-*.md")) - {directory / name for name in current}:
        stale.unlink()
    for name, text in current.items():
        (directory / name).write_text(text, encoding="utf-8")
    (directory / "decisions").mkdir(exist_ok=True)
    (directory / "decisions" / "README.md").write_text(decisions_text(directory), encoding="utf-8")
    (directory / "llms.txt").write_text(llms_text(directory), encoding="utf-8")
    return [*(directory / name for name in current), directory / "decisions" / "README.md", directory / "llms.txt"]


def _page(title: str, *parts: str) -> str:
    return f"# {title}\n\n{_NOTICE}\n" + "\n".join(part.rstrip("\n") + "\n" for part in parts if part)


def _worker_page() -> str:
    from headrace.config.client_options import client_definition
    from headrace.runtime.distributed_config import DistributedConfig
    from headrace.runtime.standalone_config import StandaloneConfig
    from headrace.runtime.worker_config import WorkerConfig

    client = client_definition("worker")
    base = WorkerConfig.definition().options
    distributed = _without(DistributedConfig.definition(), base)
    standalone = _without(StandaloneConfig.definition(), base)
    plain = [option for option in base.values() if option is not client.options.get(option.name)]
    passed_on = [option for option in base.values() if option is client.options.get(option.name)]
    return _page(
        "Options of a worker",
        "Every worker has these. Keys that are not listed here are accepted and ignored; `spark.*` keys configure the "
        "Spark session, `producer.*`, `consumer.*` and `admin.*` the Kafka clients of connectors. Further "
        "`config.storage.*`, `offset.storage.*` and `status.storage.*` keys are settings of those topics.",
        table(plain),
        "## Only a worker of a group\n\n" + table(distributed),
        "## Only a worker that is alone\n\n" + table(standalone),
        "## Settings of Kafka's clients\n\nThey have the meaning that Kafka gives them.\n\n" + table(passed_on),
    )


def _streams_page() -> str:
    from headrace.streams import StreamsConfig

    return _page(
        "Options of a streams application",
        "Keys that are not listed here are accepted and ignored. `topic.*` keys are settings of every internal topic; those of a "
        "store (`Materialized.with_logging_enabled`) win over them. `admin.*` keys, and settings of Kafka's clients that have no "
        "prefix, configure the admin client.",
        StreamsConfig.definition().to_markdown(),
    )


def _common_pages() -> dict[str, str]:
    from headrace.connect_config.common import SinkConnectorConfig, SourceConnectorConfig
    from headrace.connect_config.topic_creation import documented_options, documented_rule_options

    source, sink = SourceConnectorConfig.definition(), SinkConnectorConfig.definition()
    return {
        "options-source-connector.md": _page(
            "Options of every source connector",
            "Every source connector has these, besides those of its own page.",
            source.to_markdown(),
            "## Topic creation\n\nOf the group `default`, and of each group that `topic.creation.groups` names.\n\n"
            + table(_ungrouped(documented_options())),
            "## Topic creation by rules\n\nAnother spelling, that of KIP-158's earlier revision. A connector may change or veto "
            "what groups and rules say of a topic ([how](topic-creation.md)).\n\n" + table(_ungrouped(documented_rule_options())),
        ),
        "options-sink-connector.md": _page(
            "Options of every sink connector",
            "Every sink connector has these, besides those of its own page.",
            sink.to_markdown(),
        ),
    }


def _connector_page(cls: Any) -> str:
    kind = str(cls.plugin_kind)
    return _page(
        _simple(cls.plugin_name),
        f"`{cls.plugin_name}`: {_summary(cls)}",
        f"It also has the [options of every {kind} connector](options-{kind}-connector.md).",
        cls.definition().to_markdown() or "It has no options of its own.",
    )


def _sections(classes: Iterable[Any]) -> list[str]:
    """A heading and a table for each class; `X$Key` and `X$Value` share one, and a converter with its header converter."""
    groups: dict[str, list[Any]] = {}
    for cls in classes:
        groups.setdefault(cls.plugin_name.partition("$")[0], []).append(cls)
    sections = []
    for name, (cls, *others) in groups.items():
        names = ", ".join(f"`{plugin_name}`" for plugin_name in dict.fromkeys(c.plugin_name for c in (cls, *others)))
        options = table(_ungrouped(cls.definition())) or "No options.\n"
        parts = [
            f"## {_simple(name)}\n\n{names}: {_summary(cls)}\n\n{options}",
            example.to_markdown(getattr(cls, "examples", ())),
        ]
        parts += [example.to_markdown(c.examples, "As header converter") for c in others if c.plugin_kind == "header_converter"]
        sections.append("\n".join(part for part in parts if part))
    return sections


def _without(definition: ConfigDef, names: Any) -> list[Option]:
    return [option for option in definition.options.values() if option.name not in names]


def _ungrouped(definition: ConfigDef) -> list[Option]:
    return [replace(option, group=None) for option in definition.options.values() if not option.internal]


def _summary(cls: Any) -> str:
    return " ".join((cls.__doc__ or "").strip().partition("\n\n")[0].split())


def _simple(name: str) -> str:
    return name.rpartition(".")[2]


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", _simple(name).removesuffix("Connector")).replace("$", "-").lower()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs")
    for path in write(target):
        print(path)
