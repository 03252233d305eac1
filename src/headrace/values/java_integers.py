"""Whole numbers as Java's casts and `longValue` keep them: their lowest bits."""

from __future__ import annotations

from decimal import Decimal


def wrapped(number: int, bits: int) -> int:
    """The low bits, as a Java cast keeps them."""
    return (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def long_value(number: Decimal) -> int:
    """Java's `longValue`: the lowest 64 bits of the whole part. It is not written out, which 1e999999999 has no room for."""
    exponent = exponent_of(number)
    if exponent <= 0:
        whole = 0 if number.adjusted() < 0 else int(number)
    else:
        digits = int("".join(map(str, number.as_tuple().digits)))
        whole = (-1 if number.is_signed() else 1) * digits * pow(10, exponent, 2**64)
    return wrapped(whole, 64)


def exponent_of(number: Decimal) -> int:
    """Of the last digit of a finite number."""
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent
