from __future__ import annotations

from headrace.dead_letters.letter import Letter
from headrace.dead_letters.reasons import reasons
from tests.dead_letters.test_letter import letter


def rows(letters: list[Letter]) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in ("message", "messages", "records", "first_ms", "last_ms")) for row in reasons(letters)]


def test_reasons_are_counted_the_most_frequent_first():
    letters = [letter(n, exception_message="bad" if n else "worse", connector_name="c") for n in range(3)]
    assert rows(letters) == [("bad", 1, 2, 1001, 1002), ("worse", 1, 1, 1000, 1000)]


def test_many_messages_that_differ_in_values_of_the_record_are_one_reason():
    texts = [f'Value of {{"n": {n}, "name": "user{n}"}} at 1.{n} is no int32' for n in range(11)]
    letters = [letter(n, exception_message=text) for n, text in enumerate(texts)]
    assert rows(letters) == [(texts[10], 11, 11, 1000, 1010)]
    others = [letter(20 + n, exception_message=text, connector_name="d") for n, text in enumerate(texts)]
    assert [row["connector"] for row in reasons([*letters, *others])] == [None, "d"]


def test_what_stands_between_values_is_part_of_the_reason():
    causes = [f"Failed to read {{v}} because the field {chr(97 + n)} is missing [{n}]" for n in range(12)]
    letters = [letter(n, exception_message=text) for n, text in enumerate(causes)]
    assert {row[0] for row in rows(letters)} == set(causes)
    of_lists = [f"Failed to read [{n}] because the field {chr(97 + n)} is missing [{n}]" for n in range(12)]
    assert len(rows([letter(n, exception_message=text) for n, text in enumerate(of_lists)])) == 12


def test_values_in_values_belong_to_them_however_many():
    nested = [
        'No int32: {"a": {"b": [' + ", ".join(f'{{"{chr(97 + n)}": "}} \\" {n}"}}' for _ in range(n)) + "]}}." for n in range(11)
    ]
    assert rows([letter(n, exception_message=text) for n, text in enumerate(nested)]) == [(nested[10], 11, 11, 1000, 1010)]
    cut = [f"No int32: {{{'x' * (600 + n)}: {{{'y' * 300}}}, {'z' * 999}}}" for n in range(11)]
    assert rows([letter(n, exception_message=text) for n, text in enumerate(cut)]) == [(cut[10], 11, 11, 1000, 1010)]


def test_few_messages_may_differ_in_what_matters():
    letters = [letter(n, exception_message=f"Field 'f{n}' is missing") for n in range(10)]
    assert [row[0] for row in rows(letters)] == [f"Field 'f{n}' is missing" for n in range(10)]


def test_letters_without_context_are_one_reason():
    assert rows([letter(1), letter(2)]) == [(None, 1, 2, 1001, 1002)]
