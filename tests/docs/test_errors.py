"""The page of every error has what the code says."""

from __future__ import annotations

import ast

from headrace.error_pages import error_classes, sentences

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


def test_each_sentence_is_found_with_its_kind_wherever_it_stands() -> None:
    tree = ast.parse(CODE)
    classes = error_classes([tree])
    assert classes == {"HeadraceError": "failure", "OwnError": "failure", "ConfigError": "setting"}
    assert dict(sentences(tree, classes)) == {
        "The file {…} cannot be read.": "failure",
        "It is gone: {…}": "failure",
        "must be a number": "setting",
        "Value has no field:": "record",
    }
