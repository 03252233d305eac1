from headrace.cluster.rebalances import Rebalances
from headrace.runtime.metrics import Metrics
from headrace.runtime.metrics.window import Span


def test_rebalances_are_counted_and_timed() -> None:
    clock, metrics = [1000], Metrics()
    rebalances = Rebalances(Span(), lambda: clock[0])
    rebalances.show(metrics, "sessioned", lambda: None)

    def shown() -> dict[str, float | str]:
        return {m.name: m.value for m in metrics.measures() if m.group == "connect-worker-rebalance-metrics"}

    assert (shown()["epoch"], shown()["rebalancing"], shown()["completed-rebalances-total"]) == (-1, 0, 0)
    assert "time-since-last-rebalance-ms" not in shown()
    for generation, took in ((3, 40), (4, 20)):
        with rebalances.measured(generation):
            assert shown()["rebalancing"] == 1
            clock[0] += took
    clock[0] += 500
    assert shown() == {
        "connect-protocol": "sessioned", "epoch": 4, "completed-rebalances-total": 2, "rebalancing": 0,
        "rebalance-max-time-ms": 40, "rebalance-avg-time-ms": 30, "time-since-last-rebalance-ms": 500,
    }  # fmt: skip
