"""The settings of the session."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from headrace.spark import session


@pytest.mark.parametrize(("conf", "size"), [
    ({}, None),
    ({"spark.master": "local[4]"}, None),
    ({"spark.master": "spark://host:7077"}, "1024"),
    ({"spark.master": "spark://host:7077", "spark.rpc.message.maxSize": "512"}, "512"),
])  # fmt: skip
def test_executors_elsewhere_take_large_messages(monkeypatch: pytest.MonkeyPatch, conf: Mapping[str, str], size: str | None):
    monkeypatch.setattr(session, "jars", lambda conf: [])
    monkeypatch.setattr(session, "extension_jar", lambda: "headrace.jar")
    monkeypatch.setattr(session, "using", lambda name: [])
    assert session.settings(conf).get("spark.rpc.message.maxSize") == size
