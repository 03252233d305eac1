"""The order of a HashMap's keys."""

from headrace.values.java_hash import hash_order, order_is_fixed


def test_an_order_is_fixed_if_it_is_the_same_for_each_number_of_slots():
    assert order_is_fixed(hash_order(["a", "b"]))
    assert hash_order(["a", "p"]) == ["p", "a"] and not order_is_fixed(["p", "a"])  # "p" is in slot 0 of 16, and 16 of 32
    assert order_is_fixed(["a"])
