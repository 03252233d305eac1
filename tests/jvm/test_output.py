from __future__ import annotations

import os

from headrace.jvm.output import pass_on


def test_all_lines_but_the_one_about_incubator_modules_are_passed_on(capfd) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"first\nWARNING: Using incubator modules: jdk.incubator.vector\nWARNING: another\nunended")
    os.close(writing)
    pass_on(reading)
    assert capfd.readouterr().err == "first\nWARNING: another\nunended"
