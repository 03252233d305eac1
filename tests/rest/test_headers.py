import pytest
from starlette.datastructures import Headers, MutableHeaders

from headrace.errors import ConfigError
from headrace.rest.headers import CrossOrigin, HeaderRule, parse_rules


def test_rules_are_separated_by_commas() -> None:
    assert parse_rules("add X-Custom: yes, set X-Frame-Options: DENY") == [
        HeaderRule("add", "X-Custom", "yes"),
        HeaderRule("set", "X-Frame-Options", "DENY"),
    ]
    assert parse_rules(" ") == []
    assert parse_rules("Add X-Custom: yes, SETDATE Expires: 1") == [
        HeaderRule("add", "X-Custom", "yes"), HeaderRule("setDate", "Expires", "1"),
    ]  # fmt: skip


def test_a_rule_in_quotes_may_hold_commas() -> None:
    text = '"add Cache-Control: no-cache, no-store", setDate Expires: -1'
    assert parse_rules(text) == [
        HeaderRule("add", "Cache-Control", "no-cache, no-store"),
        HeaderRule("setDate", "Expires", "-1"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("set", "Invalid format of header config 'set'. Expected: '[action] [header name]:[header value]'"),
        ("put a: b", "Invalid header config action: 'put'. Expected one of [set, add, setDate, addDate]"),
        (
            "set a b",
            "Invalid format of header name and header value pair 'a b'. Expected: '[header name]:[header value]'",
        ),
        (
            "add X-A: ",
            "Invalid format of header name and header value pair 'X-A:'. Expected: '[header name]:[header value]'",
        ),
        ("set a b: c", "Invalid header name 'a b'. The '[header name]' cannot contain whitespace"),
        ("setDate Expires: soon", "Invalid value 'soon' of header 'Expires' for setDate. Expected a number of milliseconds"),
    ],
)
def test_a_bad_rule_is_a_configuration_error(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_rules(text)
    assert str(error.value) == message


def test_what_a_resource_sets_wins_over_set_but_not_over_add() -> None:
    headers = MutableHeaders({"Location": "here", "X-A": "1"})
    for rule in parse_rules("set Location: there, add X-A: 2, setDate Expires: 0"):
        rule.apply(headers)
    assert headers.getlist("location") == ["here"]
    assert headers.getlist("x-a") == ["1", "2"]
    assert headers["expires"].endswith(" GMT")


def cors(origins: list[str], method: str = "GET", **request: str) -> dict[str, str]:
    headers = MutableHeaders()
    sent = Headers({name.replace("_", "-"): value for name, value in request.items()})
    CrossOrigin(origins, ("GET", "PUT")).apply(method, sent, headers)
    return dict(headers)


def test_without_allowed_origins_there_are_no_cors_headers() -> None:
    assert cors([], origin="http://app.example") == {}


def test_an_allowed_origin_is_named() -> None:
    assert cors(["http://app.example"], origin="http://app.example") == {
        "vary": "Origin",
        "access-control-allow-origin": "http://app.example",
    }
    assert cors(["*"], origin="http://any.example")["access-control-allow-origin"] == "http://any.example"
    for origin in ("http://app.example", "HTTP://APP.EXAMPLE", "https://a.b.example http://other"):
        allowed = ["http://app.example", r"https?://.*\.example"]
        assert cors(allowed, origin=origin)["access-control-allow-origin"] == origin


def test_another_origin_gets_nothing() -> None:
    assert cors(["http://app.example"], origin="http://other.example") == {"vary": "Origin"}
    assert cors(["http://app.example"]) == {"vary": "Origin"}
    assert cors(["http://app.example"], origin="http://app-example") == {"vary": "Origin"}
    assert cors(["http://*.example"], origin="http://app.example") == {"vary": "Origin"}, "no wildcard, a regular expression"


def test_a_preflight_request_is_told_the_methods() -> None:
    found = cors(["*"], "OPTIONS", origin="http://app.example", access_control_request_method="DELETE")
    assert found["access-control-allow-methods"] == "GET,PUT"
    assert found["access-control-allow-headers"] == "Content-Type"


def test_origins_and_methods_are_separated_by_commas() -> None:
    assert CrossOrigin.of("http://a, http://b", "GET,PUT") == CrossOrigin(["http://a", "http://b"], ["GET", "PUT"])
    assert CrossOrigin.of("", "").methods == ("GET", "POST", "HEAD")


def test_an_origin_that_is_no_regular_expression_is_refused() -> None:
    with pytest.raises(ConfigError, match="Unclosed character class"):
        CrossOrigin.of("http://[a", "")
