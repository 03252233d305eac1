from __future__ import annotations

import os

from structlog.testing import capture_logs

from headrace.jvm.output import hide, pass_line, pass_on


def test_all_lines_but_the_one_about_incubator_modules_are_passed_on(capfd) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"first\nWARNING: Using incubator modules: jdk.incubator.vector\nWARNING: another\nunended")
    os.close(writing)
    pass_on(reading)
    assert capfd.readouterr().err == "first\nWARNING: another\nunended"


def test_what_a_plugin_logs_is_the_connectors_log(capfd) -> None:
    with capture_logs() as logs:
        pass_line(b"2026-01-01T00:00:00.000 WARN  spark Connection: [orders|task-2] retrying in 5 s\n")
        pass_line(b"2026-01-01T00:00:00.000 ERROR spark Connection: [orders|worker] gone\n")
    assert logs == [
        {"event": "retrying in 5 s", "log_level": "warning", "connector": "orders", "task": 2, "plugin_logger": "Connection"},
        {"event": "gone", "log_level": "error", "connector": "orders", "plugin_logger": "Connection"},
    ]
    assert capfd.readouterr().err == ""


def test_passwords_of_plugins_are_in_no_line(capfdbinary) -> None:
    hide(["hunter2-Ж", "abc", "true", "admin-pass"])  # what is short or an option's word would be found everywhere
    with capture_logs() as logs:
        pass_line("2026-01-01T00:00:00.000 WARN  spark Connection: [orders|task-2] login abc:hunter2-Ж failed: true\n".encode())
        pass_line(b"java.lang.IllegalStateException: no 'admin-pass' for admin-passenger\n" + b"\xff\n")
    assert [entry["event"] for entry in logs] == ["login abc:[hidden] failed: true"]
    assert capfdbinary.readouterr().err == b"java.lang.IllegalStateException: no '[hidden]' for admin-passenger\n\xff\n"
