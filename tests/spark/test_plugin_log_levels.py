from __future__ import annotations

from headrace.spark import plugin_log_levels


def test_a_jvm_that_starts_later_has_the_levels_in_the_order_in_which_they_were_set() -> None:
    for logger, level, number in (("org.late", "ERROR", 40), ("org.late.sub", "FATAL", 50), ("org.late", "WARN", 30)):
        plugin_log_levels.set_level(logger, level, number)
    told: list[tuple[str, str]] = []
    host = object()
    plugin_log_levels.follow(host, lambda logger, level: told.append((logger, level)))
    plugin_log_levels.forget(host)
    # a level is that of all loggers below, too: the last one set is the last one told
    assert [setting for setting in told if setting[0].startswith("org.late")] == [("org.late.sub", "FATAL"), ("org.late", "WARN")]
