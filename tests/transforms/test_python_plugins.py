import json

import pytest

from headrace import plugins
from headrace.connect_config.enrich import chain_definition
from headrace.errors import ConfigError, NotFoundError
from headrace.plugins import Kind
from headrace.transforms.stages import stages
from tests.transforms import own_plugins
from tests.transforms.one_record import after
from tests.transforms.own_plugins import Doubled, Large, Routed

HERE = "tests.transforms.own_plugins"


def own(name, **options):
    props = {f"transforms.x.{k}": v for k, v in options.items()}
    return {"transforms": "x", "transforms.x.type": f"{HERE}.{name}", **props}


def test_a_class_is_found_by_its_dotted_name():
    assert plugins.find(f"{HERE}.Routed", Kind.TRANSFORMATION) is Routed
    assert plugins.find(f"{HERE}.Large", Kind.PREDICATE) is Large
    assert (vars(Routed)["plugin_name"], Routed.version) == (f"{HERE}.Routed", "undefined")


def test_columns_go_in_and_columns_come_out(spark):
    result = after(own("Routed", field="n"), {"n": 5}, key="k")
    assert (result["topic"], result["headers"], result["value"]) == ("orders-5", [["key", b"k"]], {"n": 5})


def test_a_column_that_fails_fails_the_record(spark):
    result = after(own("Routed", field="n"), {"n": "x"}, key="k")
    assert result["error"]["message"] == "The expression Routed.topic of 'transforms.x.type' failed"


def test_what_is_returned_unchanged_stays(spark):
    assert after(own("Unchanged"), {"n": 1.0})["value"] == {"n": 1.0}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("Forgetful", "Its apply has to return Columns, not NoneType"), ("Offset", "An offset cannot be changed")],
)
def test_what_apply_may_not_return_is_an_error_of_the_type(spark, name, sentence):
    with pytest.raises(ConfigError, match=rf"Invalid value {name} for configuration transforms.x.type: {sentence}"):
        after(own(name), {})


def test_options_of_the_class_are_validated():
    with pytest.raises(ConfigError, match=r'Missing required configuration "transforms\.x\.field"'):
        stages(own("Routed"))


@pytest.mark.parametrize(("n", "dropped"), [(101, True), (100, False), ("x", False)])
def test_a_predicate_decides(spark, n, dropped):
    props = {"transforms": "x", "transforms.x.type": "Filter", "transforms.x.predicate": "p", "predicates": "p",
             "predicates.p.type": f"{HERE}.Large"}  # fmt: skip
    assert after(props, {"n": n}).get("filtered", False) is dropped


def test_a_predicate_has_to_be_boolean(spark):
    props = {"transforms": "x", "transforms.x.type": "Filter", "transforms.x.predicate": "p", "predicates": "p",
             "predicates.p.type": f"{HERE}.NoCondition"}  # fmt: skip
    with pytest.raises(ConfigError, match=r"configuration predicates\.p\.type: It gives STRING, not BOOLEAN"):
        after(props, {})


def test_batches_go_through_arrow_and_only_bad_records_fail(spark):
    from headrace.testing.conformance import _converters
    from headrace.transforms.chain import compile_chain
    from tests.transforms.one_record import JSON

    props = {"key.converter": JSON, "value.converter": JSON, "value.converter.schemas.enable": "false", **own("Doubled")}
    converters = _converters(props)
    texts = ['{"n": 1}', "{}", None, '{"n": 2}']
    rows = [("t", 0, i, 0, None, t and t.encode(), None) for i, t in enumerate(texts)]
    types = "in_topic string, in_partition int, in_offset bigint, in_timestamp bigint, in_key binary, in_value binary"
    frame = spark.createDataFrame(rows, types + ", in_headers array<struct<key: string, value: binary>>")
    result = (
        compile_chain(stages(props), converters, converters, sink=True).apply(frame, ["in_offset"]).sort("in_offset").collect()
    )
    assert [r.value and json.loads(bytes(r.value)) for r in result if r.failure is None] == [{"n": 2}, None, {"n": 4}]
    bad = result[1].failure
    assert (bad["message"], bad["cause"]) == ("Doubled failed", "KeyError: 'n'")


def test_a_batch_that_is_no_json_fails(spark):
    assert after(own("Broken"), {})["error"]["message"] == "The result is not JSON"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (f"{HERE}.Nothing", f"Class {HERE}.Nothing could not be found."),
        ("no_such_module.Transform", "Class no_such_module.Transform could not be found."),
        (f"{HERE}.Neither", f"Class class {HERE}.Neither does not implement the Transformation interface"),
        (f"{HERE}.Large", f"Class class {HERE}.Large does not implement the Transformation interface"),
        ("headrace.transforms.cast.Cast", "Class headrace.transforms.cast.Cast could not be found."),
        (f"{HERE}.ColumnTransform", f"Class {HERE}.ColumnTransform could not be found."),
    ],
)
def test_what_is_no_plugin_is_refused_in_kafkas_words(name, sentence):
    with pytest.raises(ConfigError, match=sentence.replace(".", r"\.")):
        chain_definition({"transforms": "x", "transforms.x.type": name})


def test_dotted_names_are_for_transformations_and_predicates_only():
    with pytest.raises(NotFoundError):
        plugins.find(f"{HERE}.Routed", Kind.SOURCE)


def test_a_module_that_cannot_be_imported_is_warned_of(tmp_path, monkeypatch, caplog):
    (tmp_path / "broken_plugins.py").write_text("1/0")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(NotFoundError):
        plugins.find("broken_plugins.X", Kind.TRANSFORMATION)
    assert "plugin.import-failed plugin=broken_plugins.X cause=ZeroDivisionError" in caplog.text


def test_an_entry_point_may_name_a_class(monkeypatch):
    class Entry:
        name = "doubled"

        def load(self):
            return own_plugins.Doubled

    plugins.load()  # into the registry that stays
    monkeypatch.delattr(Doubled, "plugin_name", raising=False)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [Entry()])
    monkeypatch.setattr(plugins, "_REGISTRY", dict(plugins._REGISTRY))
    plugins.load.cache_clear()
    assert plugins.find("doubled", Kind.TRANSFORMATION) is Doubled
    assert vars(Doubled)["plugin_name"] == f"{HERE}.Doubled"
