import pytest

from headrace.rest.location import connector_location


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("x", "x"),
        ("my connector", "my%20connector"),
        ("a+b", "a+b"),
        ("ünï-名前", "%C3%BCn%C3%AF-%E5%90%8D%E5%89%8D"),
        ("a%b", "a%25b"),
        ("a%20b", "a%2520b"),
        ("semi;colon", "semi%3Bcolon"),
        ("q?mark", "q%3Fmark"),
        ("ha#sh", "ha%23sh"),
        ('quo"te', "quo%22te"),
        ("a:connector-b", "a:connector-b"),
        ("sl/ash", "sl%2Fash"),
        ("back\\slash", "back%5Cslash"),
        ("..", ".."),
        ("open{brace", "open%7Bbrace"),
        ("br{ace}", "br%7Bace%7D"),
    ],
)
def test_a_location_can_be_followed_whatever_the_name(name: str, path: str) -> None:
    assert connector_location("http://localhost:8083", name) == "http://localhost:8083/connectors/" + path
