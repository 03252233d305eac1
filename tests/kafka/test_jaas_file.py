import pytest

from headrace.errors import ConfigError
from headrace.kafka.jaas import Login, parse_jaas_file


def test_entries_are_found_by_name() -> None:
    text = 'A { x.M required a="b;}" c=d; // one\n x.N optional; };\n/* none: B { */ "C" { y.O sufficient; };'
    assert parse_jaas_file(text) == {
        "A": [Login("M", {"a": "b;}", "c": "d"}), Login("N", {})],
        "C": [Login("O", {})],
    }


def test_a_file_without_entries_has_none() -> None:
    assert parse_jaas_file("// nothing\n") == {}


@pytest.mark.parametrize("text", ["A", "A {", "A { x.M required }", "A { x.M maybe; };", 'A { x.M required password="s3cret" };'])
def test_what_is_no_jaas_file_is_one_sentence_without_its_text(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^The JAAS file cannot be read: ") as error:
        parse_jaas_file(text)
    assert "s3cret" not in str(error.value)
