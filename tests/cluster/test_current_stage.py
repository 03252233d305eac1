from __future__ import annotations

import re

from headrace.cluster.current_stage import CurrentStage


def test_the_step_that_began_first_is_told_with_its_instant():
    stages = CurrentStage()
    assert stages.sentence() is None
    with stages.during("reading to the end of the config topic"), stages.during("writing"):
        told = stages.sentence()
    assert told is not None
    assert re.fullmatch(
        r"The worker is currently reading to the end of the config topic, which began at \d{4}-\d\d-\d\dT[\d:.]+Z\.", told
    )
    assert stages.sentence() is None


def test_a_step_that_fails_is_over():
    stages = CurrentStage()
    try:
        with stages.during("writing"):
            raise ValueError
    except ValueError:
        assert stages.sentence() is None
