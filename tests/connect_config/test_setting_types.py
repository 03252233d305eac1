"""The types of the settings of all plugins that a configuration names."""

from __future__ import annotations

from headrace.connect_config.named_plugins import named_plugins
from headrace.connect_config.setting_types import setting_types
from tests.rest.own_plugins import CIPHER


def types(config: dict[str, str | None]) -> dict[str, str]:
    return {option["name"]: option["type"] for option in setting_types(named_plugins(config))}


def test_options_stand_under_the_prefix_of_their_plugin():
    found = types({
        "connector.class": "FileStreamSource", "transforms": "enc, enc,away", "transforms.enc.type": f" {CIPHER} ",
        "transforms.enc.plugin.version": "99", "transforms.away.type": "no.such.Class", "transforms.unused.type": CIPHER,
        "value.converter": "io.confluent.connect.avro.AvroConverter", "predicates": "p",
        "predicates.p.type": "TopicNameMatches",
    })  # fmt: skip
    wanted = {
        "file": "STRING", "tasks.max": "INT", "transforms.enc.cipher.data_keys": "PASSWORD", "predicates.p.pattern": "STRING",
        "value.converter.bearer.auth.token": "PASSWORD",
    }  # fmt: skip
    assert {name: found.get(name) for name in wanted} == wanted
    assert not [name for name in found if name.startswith(("transforms.away", "transforms.unused"))]


def test_without_a_class_there_is_nothing():
    assert types({"connector.class": None, "transforms": None}) == {}
