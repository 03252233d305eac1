"""The registry of components: what a name finds."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from headrace import plugins
from headrace.errors import NotFoundError
from headrace.plugins import Kind
from headrace.transforms.base import Transformation


def test_a_plugin_that_is_added_is_found_although_its_name_was_asked_for_before(monkeypatch: pytest.MonkeyPatch):
    plugins.load()  # into the registry that stays
    monkeypatch.setattr(plugins, "_REGISTRY", dict(plugins._REGISTRY))
    name = "org.example.Late"
    with pytest.raises(NotFoundError, match=f"Class {name} could not be found"):
        plugins.find(name, Kind.TRANSFORMATION)
    late = plugins.plugin(name, Kind.TRANSFORMATION)(type("Late", (Transformation,), {}))
    assert plugins.find(name, Kind.TRANSFORMATION) is plugins.find("Late", Kind.TRANSFORMATION) is late
    plugins._matching.cache_clear()  # it is gone with this test


def test_a_failed_import_is_tried_again_only_where_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    module = tmp_path / "mended_plugins.py"
    module.write_text("1/0")
    monkeypatch.syspath_prepend(str(tmp_path))
    name = "mended_plugins.Mended"
    with pytest.raises(NotFoundError):
        plugins.find(name, Kind.SOURCE, again=False)
    module.write_text("class Mended:\n    plugin_kind = 'source'\n")
    importlib.invalidate_caches()
    with pytest.raises(NotFoundError):
        plugins.find(name, Kind.SOURCE, again=False)
    found = plugins.find(name, Kind.SOURCE)
    assert plugins.find(name, Kind.SOURCE, again=False) is found


@pytest.mark.parametrize("name", ["Simple", "SimpleHeaderConverter", "String", "StringConverter", "Json"])
def test_a_header_converter_goes_by_its_name_without_its_whole_suffix(name: str):
    assert plugins.find(name, Kind.HEADER_CONVERTER).plugin_name.rpartition(".")[2].startswith(name)
    with pytest.raises(NotFoundError):
        plugins.find("SimpleHeader", Kind.HEADER_CONVERTER)
