"""The page of every error has what the code says."""

from __future__ import annotations

import ast
import re

from headrace.error_pages import causes_and_cures, error_classes, errors_page, sentences, source_trees
from tests.deploy.test_files import ROOT, command_exists

CODE = """
_GONE = "It is gone: "
class HeadraceError(Exception): ...
class OwnError(HeadraceError): ...
class ConfigError(HeadraceError): ...
class Other(Exception): ...
raise OwnError(f"The file {path} cannot "
               "be read.")
raise OwnError(_GONE + name)
raise ConfigError.invalid(name, value, "must be a number")
raise Other("This is not an error of ours.")
raise OwnError(message)
chain.fail(when, lit("Value has no field: "))
"""


def test_each_sentence_is_found_with_its_class_wherever_it_stands() -> None:
    tree = ast.parse(CODE)
    classes = error_classes([tree])
    assert classes == {"HeadraceError": "failure", "OwnError": "failure", "ConfigError": "setting"}
    assert dict(sentences(tree, classes)) == {
        "The file {…} cannot be read.": "OwnError",
        "It is gone: {…}": "OwnError",
        "must be a number": "ConfigError",
        "Value has no field:": "DataError",
    }


def test_every_class_of_errors_has_a_cause_and_a_cure() -> None:
    assert error_classes(source_trees().values()).keys() == causes_and_cures().keys()
    assert [name for name, texts in causes_and_cures().items() if not all(texts)] == []


def test_every_sentence_names_a_class_with_a_cause_and_a_cure() -> None:
    page = errors_page("")
    classes, _, by_package = page.partition("\n## `")
    named = set(re.findall(r"\| `(\w+)` \|$", by_package, re.M))
    assert len(named) > 15
    assert named <= set(re.findall(r"^\| `(\w+)` \|", classes, re.M))


def test_commands_in_cures_exist_and_settings_are_in_the_options() -> None:
    texts = " ".join(cure for _, cure in causes_and_cures().values())
    commands = set(re.findall(r"`(headrace [a-z -]+?)(?: --| NAME|`)", texts))
    assert len(commands) > 5
    assert [words for words in sorted(commands) if not command_exists(words.split())] == []
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("options-*.md"))
    settings = set(
        re.findall(r"`([a-z]+(?:\.[a-z]+)+)(?:=[a-z]+)?`", texts + " ".join(c for c, _ in causes_and_cures().values()))
    )
    assert len(settings) > 3
    assert [setting for setting in sorted(settings) if f"`{setting}`" not in pages] == []
