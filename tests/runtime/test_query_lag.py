from headrace.runtime.query_lag import positions_of, source_positions


def progress(latest: object, end: object) -> dict[str, object]:
    return {"sources": [{"latestOffset": latest, "endOffset": end}]}


def test_the_lag_is_what_the_source_has_beyond_the_batch() -> None:
    assert positions_of(progress({"t": {"0": 10, "1": 5}}, {"t": {"0": 7, "1": 5}})) == {"t-0": (7, 10), "t-1": (5, 5)}
    assert positions_of(progress('{"t":{"0":10}}', '{"t":{"0":7}}')) == {"t-0": (7, 10)}


def test_a_source_that_counts_no_records_has_none() -> None:
    assert positions_of(progress("offset 3", None)) is None
    assert positions_of(progress(None, None)) is None


def test_the_last_lag_stays_when_the_query_is_gone() -> None:
    class Query:
        answers = iter([None, progress({"t": {"0": 9}}, {"t": {"0": 7}})])

        @property
        def lastProgress(self) -> object:
            return next(self.answers)

    positions = source_positions(Query())
    assert [positions(), positions(), positions()] == [None, {"t-0": (7, 9)}, {"t-0": (7, 9)}]
