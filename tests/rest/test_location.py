import pytest

from headrace.errors import ConnectError
from headrace.rest.location import connector_location


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("x", "x"),
        ("my connector", "my%20connector"),
        ("a+b", "a+b"),
        ("ünï-名前", "%C3%BCn%C3%AF-%E5%90%8D%E5%89%8D"),
        ("a%b", "a%25b"),
        ("a%20b", "a%20b"),
        ("semi;colon", "semi;colon"),
        ("q?mark", "q%3Fmark"),
        ("ha#sh", "ha%23sh"),
        ('quo"te', "quo%22te"),
        ("a:connector-b", "a:connector-b"),
        ("sl/ash", "sl/ash"),
        ("back\\slash", "back%5Cslash"),
        ("..", ".."),
        ("open{brace", "open%7Bbrace"),
    ],
)
def test_names_are_escaped_as_jax_rs_does(name: str, path: str) -> None:
    assert connector_location("http://localhost:8083", name) == "http://localhost:8083/connectors/" + path


def test_a_name_with_braces_has_no_location() -> None:
    with pytest.raises(ConnectError, match=r"^The template variable 'ace' has no value$"):
        connector_location("http://localhost:8083", "br{ace}")
