"""The registry of components: what a name finds."""

from __future__ import annotations

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
