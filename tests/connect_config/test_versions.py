import pytest

from headrace.connect_config.versions import version_range, with_version
from headrace.errors import BadRequestError, ConfigError


class Plugin:
    plugin_name = "org.Plugin"
    version = "4.3.0"


@pytest.mark.parametrize("wanted", [None, "latest", "4.3.0", "4.3", " 4.3.0 ", "[4.0,5.0)", "[4.3.0]", "(,4.3.0]", "(4.2,)"])
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
    ],
)
def test_a_version_that_is_not_there_is_refused_in_kafkas_words(wanted, shown):
    with pytest.raises(BadRequestError) as error:
        with_version(Plugin, wanted)
    assert error.value.message == (
        f"Plugin org.Plugin not found that matches the version range {shown}, available versions: [4.3.0]"
    )


@pytest.mark.parametrize("text", ["a,,b", "[1,2,3]", "[2.0,1.0]", "[1.0"])
def test_a_range_that_is_none_is_an_error(text):
    with pytest.raises(ConfigError, match="Range defies version ordering"):
        version_range(text)


def test_a_pre_release_comes_before_its_release():
    parsed = version_range("[4.3.0,)")
    assert parsed is not None
    assert not parsed.contains("4.3.0-rc1")
    assert parsed.contains("4.10")
