"""Finds the application that a command is about: a topology in a module or file, with its configuration."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.settings import setting
from headrace.errors import HeadraceError, SetupError

if TYPE_CHECKING:
    from headrace.streams import KafkaStreams, Topology

_NAME = "topology"

App = Annotated[
    str,
    typer.Argument(metavar="APP",
                   help="A module or Python file and what it calls its topology, `module:name` or `file.py:name`; the name is "
                        "`topology` if left out. It is a Topology, a StreamsBuilder, or a function that returns one of them."),
]  # fmt: skip
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", exists=True, dir_okay=False, readable=True,
                 help="Settings of the application, .properties. Without it: `config` of the module, if it has that."),
]  # fmt: skip
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting that wins over those; may be repeated.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON (docs/streams.md).")]


def load(app: str, file: Path | None, set_options: list[str] | None, *, draft: bool = False) -> tuple[Topology, dict[str, Any]]:
    """The topology and the settings. draft: also of a builder whose topology cannot run here.

    Raises SetupError if there is no such thing, ConfigError, TopologyError.
    """
    from headrace.config import load_properties

    return load_with(app, load_properties(file) if file else None, dict(map(setting, set_options or [])), draft=draft)


def load_with(
    app: str, settings: Mapping[str, Any] | None, overriding: Mapping[str, Any], *, draft: bool = False
) -> tuple[Topology, dict[str, Any]]:
    """The same with settings that are read already, None for those of the module; overriding: win over them. Raises as `load`."""
    from headrace.streams import StreamsBuilder, Topology

    where, _, name = app.rpartition(":") if ":" in app else (app, "", _NAME)
    with _code_of_user(where):
        module = _module(where)
    if not hasattr(module, name):
        raise SetupError(f"{where} has no `{name}`; name its topology as {where}:NAME.")
    if settings is None:
        config = getattr(module, "config", None)
        settings = config if isinstance(config, Mapping) else {}
    settings = {**settings, **overriding}
    value = getattr(module, name)
    if callable(value) and not isinstance(value, Topology | StreamsBuilder):
        with _code_of_user(where):
            value = value()
    if isinstance(value, StreamsBuilder):
        value = value.draft(settings) if draft else value.build(settings)
    if not isinstance(value, Topology):
        raise SetupError(
            f"`{name}` of {where} is a {type(value).__name__}, but should be a Topology, a StreamsBuilder or a function."
        )
    return value, settings


def streams(app: str, file: Path | None, settings: list[str] | None) -> KafkaStreams:
    """The application, which has not asked its cluster yet. Raises what `load` raises."""
    from headrace.streams import KafkaStreams

    return KafkaStreams(*load(app, file, settings))


@contextmanager
def _code_of_user(where: str) -> Iterator[None]:
    """Raise SetupError with file and line for what the code of an application raises, but for headrace's own errors."""
    try:
        yield
    except HeadraceError:
        raise
    except SyntaxError as error:
        raise SetupError(f"{where} cannot be loaded: {error.filename}, line {error.lineno}: {error.msg}") from error
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        cause = f"{type(error).__name__}: {error}"
        raise SetupError(f"{where} cannot be loaded: {at.filename}, line {at.lineno}: {cause}") from error


def _module(where: str) -> ModuleType:
    """Import a module as Python in this directory would, or a file. What its code raises passes."""
    sys.path.insert(0, str(Path.cwd()))
    if not where.endswith(".py"):
        try:
            return importlib.import_module(where)
        except ModuleNotFoundError as error:
            if error.name is not None and not f"{where}.".startswith(f"{error.name}."):
                raise
            raise SetupError(f"There is no module {where} here; name it as Python would, or a file that ends in .py.") from None
    path = Path(where)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise SetupError(f"There is no file {where}.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))
    spec.loader.exec_module(module)
    return module
