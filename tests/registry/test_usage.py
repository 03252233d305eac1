"""Which schemas of a registry a converter remembers."""

from __future__ import annotations

import pytest

from headrace.registry.usage import SchemaUses


def ids(uses: SchemaUses) -> list[int]:
    return [use.id for use in uses.all()]


def test_schemas_that_were_not_used_for_longest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SchemaUses, "MAX_USES", 3)
    uses = SchemaUses()
    for id in (1, 2, 3, 1, 4):
        uses.add("read", "value", id, "AVRO", ("orders-value", id))
    assert ids(uses) == [3, 1, 4]


def test_a_schema_that_is_used_again_is_there_since_it_was_met_first() -> None:
    uses = SchemaUses()
    uses.add("written", "value", 1, "AVRO", ("orders-value", 1))
    [first] = uses.all()
    uses.add("written", "value", 2, "AVRO", ("orders-value", 2))
    uses.add("written", "value", 1, "AVRO", ("orders-value", 1))
    assert ids(uses) == [2, 1]
    assert uses.all()[-1] is first
