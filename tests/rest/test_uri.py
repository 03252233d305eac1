import pytest

from headrace.rest.uri import SLASH, BadUriError, decode_path, first_values, restore


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b"/", "/"),
        (b"/connectors", "/connectors"),
        (b"/connectors/", "/connectors"),
        (b"/connectors/my%20connector/status", "/connectors/my connector/status"),
        (b"/connectors/a+b", "/connectors/a+b"),
        (b"/connectors/%C3%BCn%C3%AF-%E5%90%8D%E5%89%8D", "/connectors/ünï-名前"),
        (b"/connectors/q%3Fmark", "/connectors/q?mark"),
        (b"/connectors/ha%23sh", "/connectors/ha#sh"),
        (b"/connectors/a:b", "/connectors/a:b"),
    ],
)
def test_each_segment_is_decoded(raw: bytes, path: str) -> None:
    assert decode_path(raw) == path


@pytest.mark.parametrize(
    ("segment", "name"),
    [
        (b"sl%2Fash", "sl/ash"),
        (b"sl%2fash", "sl/ash"),
        (b"a%25b", "a%b"),
        (b"a%252Fb", "a%2Fb"),
        (b"back%5Cslash", "back\\slash"),
    ],
)
def test_a_name_with_slashes_percents_or_backslashes_is_reached(segment: bytes, name: str) -> None:
    path = decode_path(b"/connectors/" + segment + b"/status")
    assert path == f"/connectors/{name.replace('/', SLASH)}/status"
    assert restore(path.split("/")[2]) == name


def test_matrix_parameters_are_cut_off_before_decoding() -> None:
    assert decode_path(b"/connectors/a;x=1/status") == "/connectors/a/status"
    assert decode_path(b"/connectors/semi%3Bcolon") == "/connectors/semi;colon"


def test_two_dots_are_a_segment_like_any_other() -> None:
    assert decode_path(b"/connectors/../health") == "/connectors/../health"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"/connectors//", "Ambiguous URI empty segment"),
        (b"//connectors", "Ambiguous URI empty segment"),
        (b"/connectors/%2e%2E/health", "Ambiguous URI path segment"),
        (b"/connectors/..;x/health", "Ambiguous URI path parameter"),
        (b"/connectors/%0A", "Suspicious Path Character"),
        (b"/connectors/%FC", "Bad UTF-8 encoding"),
        (b"/connectors/%zz", "Bad Request"),
        (b"/connectors/%00", "Bad Request"),
        (b"/connectors/%u0041", "Bad Request"),
        (b"/connectors/50%", "Bad Request"),
        (b"http://host/connectors", "Bad Request"),
        (b"*", "Bad Request"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(BadUriError) as error:
        decode_path(raw)
    assert str(error.value) == reason


@pytest.mark.parametrize(
    ("query", "read"),
    [
        (b"", b""),
        (b"a=1&b=2", b"a=1&b=2"),
        (b"a=1&a=2&b", b"a=1&b"),
        (b"a&a=1", b"a"),
        (b"expand=info&x=1&expand=status&x=2", b"expand=info&x=1&expand=status"),
        (b"%61=1&a=2", b"%61=1"),
    ],
)
def test_of_a_parameter_given_twice_the_first_is_read(query: bytes, read: bytes) -> None:
    assert first_values(query) == read
