from headrace.runtime.query_lag import behind, source_lag


def progress(latest: object, end: object) -> dict[str, object]:
    return {"sources": [{"latestOffset": latest, "endOffset": end}]}


def test_the_lag_is_what_the_source_has_beyond_the_batch() -> None:
    assert behind(progress({"t": {"0": 10, "1": 5}}, {"t": {"0": 7, "1": 5}})) == {"t-0": 3, "t-1": 0}
    assert behind(progress('{"t":{"0":10}}', '{"t":{"0":7}}')) == {"t-0": 3}


def test_a_source_that_counts_no_records_has_none() -> None:
    assert behind(progress("offset 3", None)) is None
    assert behind(progress(None, None)) is None


def test_the_last_lag_stays_when_the_query_is_gone() -> None:
    class Query:
        answers = iter([None, progress({"t": {"0": 9}}, {"t": {"0": 7}})])

        @property
        def lastProgress(self) -> object:
            return next(self.answers)

    lag = source_lag(Query())
    assert [lag(), lag(), lag()] == [None, {"t-0": 2}, {"t-0": 2}]
