import pytest

from headrace.config import load_properties, parse_properties
from headrace.errors import ConfigError, SetupError


@pytest.mark.parametrize(
    ("text", "props"),
    [
        ("a=b", {"a": "b"}),
        ("a:b", {"a": "b"}),
        ("a b", {"a": "b"}),
        ("  a \t=  b  ", {"a": "b  "}),
        ("a = = b", {"a": "= b"}),
        ("a", {"a": ""}),
        ("=b", {"": "b"}),
        ("a=1\na=2", {"a": "2"}),
        ("# x\n  ! y=1\n\n \t\na=b\r\nc=d\re=f", {"a": "b", "c": "d", "e": "f"}),
        ("a=b\\\n   c\\\r\n  d", {"a": "bcd"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a=b\\\n# not a comment", {"a": "b# not a comment"}),
        ("a=b\\", {"a": "b"}),
        ("a=b\\\n", {"a": "b"}),
        ("\\\n# a comment\na=b", {"a": "b"}),
        ("\\", {"": ""}),
        ("a\\ b\\=c\\:d = x", {"a b=c:d": "x"}),
        ("a=\\t\\n\\f\\r\\q\\\\", {"a": "\t\n\f\rq\\"}),
        ("a=\\u00e4\\u20AC \\ud83d\\ude00", {"a": "ä€ 😀"}),
        ("a=#b!c", {"a": "#b!c"}),
        ("", {}),
    ],
)
def test_the_syntax_is_that_of_java(text, props):
    assert parse_properties(text) == props


def test_a_bad_escape_says_where_and_what():
    with pytest.raises(ConfigError, match=r"Malformed \\uxxxx encoding in w.properties: got \\u12, want four"):
        parse_properties("a=\\u12", source="w.properties")


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
def test_a_file_is_read_in_both_usual_encodings(tmp_path, encoding):
    (tmp_path / "w.properties").write_bytes("name=Zürich\n".encode(encoding))
    assert load_properties(tmp_path / "w.properties") == {"name": "Zürich"}


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SetupError, match=r"Cannot read the properties file .*none\.properties: No such file"):
        load_properties(tmp_path / "none.properties")
