from __future__ import annotations

import os

from structlog.testing import capture_logs

from headrace.jvm.output import hide, pass_line, pass_on


def test_all_lines_but_the_one_about_incubator_modules_are_passed_on(capfd) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"first\nWARNING: Using incubator modules: jdk.incubator.vector\nWARNING: another\nunended")
    os.close(writing)
    pass_on(reading)
    written = capfd.readouterr().err  # to which clients of Kafka of other threads may write, too
    assert "first\nWARNING: another\nunended" in written
    assert "incubator" not in written


def test_what_a_plugin_logs_is_the_connectors_log(capfd) -> None:
    with capture_logs() as logs:
        pass_line(b"2026-01-01T00:00:00.000 WARN  spark Connection: [orders|task-2] retrying in 5 s\n")
        pass_line(b"2026-01-01T00:00:00.000 ERROR spark Connection: [orders|worker] gone\n")
    assert [entry for entry in logs if "plugin_logger" in entry] == [
        {"event": "retrying in 5 s", "log_level": "warning", "connector": "orders", "task": 2, "plugin_logger": "Connection"},
        {"event": "gone", "log_level": "error", "connector": "orders", "plugin_logger": "Connection"},
    ]
    written = capfd.readouterr().err
    assert "retrying" not in written and "gone" not in written


def test_passwords_of_plugins_are_in_no_line(capfdbinary) -> None:
    hide(["hunter2-Ж", "abc", "true", "admin-pass"])  # what is short or an option's word would be found everywhere
    with capture_logs() as logs:
        pass_line("2026-01-01T00:00:00.000 WARN  spark Connection: [orders|task-2] login abc:hunter2-Ж failed: true\n".encode())
        pass_line(b"java.lang.IllegalStateException: no 'admin-pass' for admin-passenger\n" + b"\xff\n")
    assert [entry["event"] for entry in logs if "plugin_logger" in entry] == ["login abc:[hidden] failed: true"]
    written = capfdbinary.readouterr().err
    assert b"java.lang.IllegalStateException: no '[hidden]' for admin-passenger\n\xff\n" in written
    assert b"login" not in written


def test_a_secret_of_several_lines_is_in_no_line_with_its_line_breaks_escaped_or_with_one_of_its_own(capfd) -> None:
    hide(["-----BEGIN KEY-----\r\nTUlJRXZRSUJBREFO\r\nQmdrcWhraUc5dzBC\r\n-----END KEY-----\r\n"])
    lines = [
        "key -----BEGIN KEY-----\\r\\nTUlJRXZRSUJBREFO\\r\\nQmdrcWhraUc5dzBC\\r\\n-----END KEY----- is bad",
        "TUlJRXZRSUJBREFO",
    ]
    for line in lines:
        pass_line(f"{line}\n".encode())
    assert "key [hidden] is bad\n[hidden]\n" in capfd.readouterr().err


def test_a_password_that_begins_a_line_of_a_message_is_in_no_line(capfd) -> None:
    hide(["hunter22-x", "MIIEvQIBADAN\nBgkqhkiG9w0B"])
    lines = [
        r"Settings:\nhunter22-x\nend",
        r'{"text": "password:\r\thunter22-x"}',
        r"key:\nMIIEvQIBADAN\nBgkqhkiG9w0B\nend",
        r"to:\nBgkqhkiG9w0B",
    ]
    with capture_logs() as logs:
        for line in lines:
            pass_line(f"2026-01-01T00:00:00.000 WARN  spark Connection: [orders|task-2] {line}\n".encode())
            pass_line(f"{line}\n".encode())
    hidden = [r"Settings:\n[hidden]\nend", r'{"text": "password:\r\t[hidden]"}', r"key:\n[hidden]\nend", r"to:\n[hidden]"]
    assert [entry["event"] for entry in logs if "plugin_logger" in entry] == hidden
    assert "\n".join(hidden) in capfd.readouterr().err
