import pytest

from headrace.connect_config.versions import version_range, with_version
from headrace.errors import BadRequestError, ConfigError


class Plugin:
    plugin_name = "org.Plugin"
    version = "4.3.0"


@pytest.mark.parametrize(
    "wanted", [None, "latest", "4.3.0", "4.3", " 4.3.0 ", "[4.0,5.0)", "[4.3.0]", "(,4.3.0]", "(4.2,)", "[1,2),[4,5)"]
)
def test_a_version_that_is_there_is_accepted(wanted):
    assert with_version(Plugin, wanted) is Plugin


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ("9.9.9", "[9.9.9,9.9.9]"),
        ("bad version", "[bad version,bad version]"),
        ("", "[,]"),
        ("[5.0,6.0)", "[5.0,6.0)"),
        ("(4.3.0,)", "(4.3.0,)"),
        ("[4.0,4.3.0)", "[4.0,4.3.0)"),
        ("[1,2),[3,4]", "[1,2),[3,4]"),
        ("1,2", "[1,2]"),
        ("[]", "[,]"),
    ],
)
def test_a_version_that_is_not_there_is_refused_in_kafkas_words(wanted, shown):
    with pytest.raises(BadRequestError) as error:
        with_version(Plugin, wanted)
    assert error.value.message == (
        f"Plugin org.Plugin not found that matches the version range {shown}, available versions: [4.3.0]"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[2.0,1.0]", "Range defies version ordering: [2.0,1.0]"),
        ("(1,1)", "Range defies version ordering: (1,1)"),
        ("[1.0", "Unbounded range: [1.0"),
        ("x]", "Only fully-qualified sets allowed in multiple set scenario: [x]]"),
        ("[1,2) 3", "Only fully-qualified sets allowed in multiple set scenario: [1,2) 3"),
        ("(1)", "Single version must be surrounded by []: (1)"),
        ("[1,3),[2,5]", "Ranges overlap: [1,3),[2,5]"),
    ],
)
def test_a_range_that_is_none_is_an_error_in_mavens_words(text, why):
    with pytest.raises(ConfigError) as error:
        version_range(text)
    assert error.value.message == why


def test_a_pre_release_comes_before_its_release():
    parsed = version_range("[4.3.0,)")
    assert parsed is not None
    assert not parsed.contains("4.3.0-rc1")
    assert parsed.contains("4.10")
