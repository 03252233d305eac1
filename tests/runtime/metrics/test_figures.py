"""The last hour of a connector's figures, as one worker keeps it."""

from __future__ import annotations

from headrace.runtime.metrics.figures import SAMPLES, FigureHistory, TaskFigures


def figures(records: float) -> list[TaskFigures]:
    return [TaskFigures("c", 0, records, 0.0, None, 5.0)]


def rates(history: FigureHistory) -> list[float]:
    return [sample.rate for sample in history.of("c")]


def test_a_restart_keeps_the_figures_and_the_time_without_a_task_counts_as_nothing_copied():
    history = FigureHistory()
    for records in (0, 100):
        history.add(figures(records), 10)
    history.add([], 10)  # it is being restarted
    history.add(figures(30), 10)  # whose counter has begun anew
    history.add(figures(50), 10)
    assert rates(history) == [0, 10, 0, 0, 2]
    assert [sample.age_ms for sample in history.of("c")] == [None, 5.0, None, None, 5.0]


def test_a_connector_that_has_had_no_task_here_for_an_hour_or_was_deleted_is_forgotten():
    history = FigureHistory()
    history.add(figures(0), 10)
    for _ in range(SAMPLES - 1):
        history.add([], 10)
    assert len(rates(history)) == SAMPLES
    history.add([], 10)
    assert rates(history) == []
    history.add(figures(0), 10)
    history.forget("c")
    assert rates(history) == []
