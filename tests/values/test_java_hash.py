"""The order of a HashMap's keys."""

from headrace.values.java_hash import hash_order, order_is_fixed, value_hash


def test_an_order_is_fixed_if_it_is_the_same_for_each_number_of_slots():
    assert order_is_fixed(hash_order(["a", "b"]))
    assert hash_order(["a", "p"]) == ["p", "a"] and not order_is_fixed(["p", "a"])  # "p" is in slot 0 of 16, and 16 of 32
    assert order_is_fixed(["a"])


def test_hashes_of_json_values_are_javas():
    assert [value_hash(v) for v in (None, True, False, "", "ab", 7, -1)] == [0, 1231, 1237, 0, 3105, 7, 2**32 - 1]
    assert value_hash(2**31) == 2**31 and value_hash(2**32) == 1  # of a Long
    assert value_hash(1.5) == 0x3FF80000 and value_hash(-0.0) == 2**31
    assert value_hash([]) == 1 and value_hash([1, "a"]) == (31 + 1) * 31 + 97
    assert value_hash({"a": 1, "b": None}) == (97 ^ 1) + 98
