"""The metrics of one task: `(state, event) -> state`. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from headrace.runtime.metrics.events import (
    Assigned,
    Batch,
    Committed,
    Event,
    InFlight,
    Lost,
    ModeChosen,
    Retried,
    StateChanged,
    Transactional,
)
from headrace.runtime.metrics.window import Meter, Span, Window

_LONGEST_ERROR = 300


@dataclass(frozen=True)
class TaskMetrics:
    """Counters and windows of one task, from its start on."""

    kind: str
    """"source" or "sink"."""
    begun_ms: int
    """When it was started, epoch ms."""
    read: Meter
    written: Meter
    """Records, as `read`."""
    commits: Meter
    """Of offsets that were stored."""
    sizes: Window
    """Records before the chain, of each batch with any."""
    times_ms: Window
    """How long each of these batches took."""
    commit_times_ms: Window
    commit_successes: Window
    """1 for each commit of offsets, 0 for one that failed."""
    transactions: Window
    """The number of records of each."""
    status: str = "unassigned"
    """The state, in Kafka's words, in lower case."""
    since_ms: int = 0
    """Since when it is in this state, epoch ms."""
    spent_ms: dict[str, int] = field(default_factory=dict)
    """How long it was in each state before, in ms."""
    batches: int = 0
    failures: int = 0
    """How often this task has FAILED, over all its restarts."""
    restarts: bool = False
    """Whether it has failed and will be restarted automatically."""
    error: str | None = None
    """The last error."""
    error_ms: int = 0
    """When the last one was, epoch ms: of the task, a record, a commit or an attempt; 0: there was none."""
    failed_records: int = 0
    skipped: int = 0
    """Of the failed records, as `logged` and `letters`."""
    logged: int = 0
    letters: int = 0
    retries: int = 0
    partitions: int = 0
    """Assigned to a sink task."""
    losses: int = 0
    """Ranges that the source has lost, over all restarts."""
    lost_records: int = 0
    """In these ranges, as far as their number is known."""
    mode: str | None = None
    """`microbatch` or `realtime`, and why; None: not known yet."""
    in_flight: InFlight | None = None
    """As of a feed's last event, with totals of all runs of the task; None without a feed."""
    read_bytes: Meter = field(kw_only=True)
    """Of a feed."""
    transacted: int = 0
    """Committed transactions that contain offsets."""

    @classmethod
    def new(cls, kind: str, span: Span, now_ms: int, before: TaskMetrics | None = None) -> TaskMetrics:
        """A task that is just being started. before: the same task until now, whose failures and data losses count on."""
        window, meter = Window(span), Meter(Window(span))
        new = cls(kind, now_ms, meter, meter, meter, window, window, window, window, window, since_ms=now_ms, read_bytes=meter)
        if before is None:
            return new
        return replace(new, failures=before.failures, losses=before.losses, lost_records=before.lost_records)

    @property
    def stored(self) -> float:
        """How often offsets were stored, by themselves or in a transaction."""
        return self.commits.total + self.transacted

    def ratio(self, status: str, now_ms: int) -> float:
        """The share of its lifetime that the task was in this state, 0 to 1."""
        spent = self.spent_ms.get(status, 0) + (now_ms - self.since_ms if status == self.status else 0)
        life = now_ms - self.begun_ms
        return spent / life if life > 0 else float(status == self.status)


def fold(state: TaskMetrics, event: Event, now_ms: int) -> TaskMetrics:
    """The state after an event."""
    match event:
        case StateChanged():
            return _state_changed(state, event, now_ms)
        case Batch():
            return _batch(state, event, now_ms)
        case Committed():
            return replace(
                state,
                commits=state.commits.add(1, now_ms) if event.ok else state.commits,
                commit_times_ms=state.commit_times_ms.add(event.took_ms, now_ms) if event.ok else state.commit_times_ms,
                commit_successes=state.commit_successes.add(float(event.ok), now_ms),
                error_ms=state.error_ms if event.ok else now_ms,
            )
        case Transactional():
            return _transactional(state, event, now_ms)
        case InFlight():
            read_bytes = state.read_bytes.add(event.read_bytes, now_ms)
            return replace(state, in_flight=_in_flight(state.in_flight, event), read_bytes=read_bytes)
        case Retried():
            return replace(state, retries=state.retries + event.times, error_ms=now_ms)
        case Assigned():
            return replace(state, partitions=event.partitions)
        case ModeChosen():
            return replace(state, mode=f"{event.mode}: {event.reason}")
        case Lost():
            return replace(state, losses=state.losses + 1, lost_records=state.lost_records + event.records)


def _in_flight(before: InFlight | None, event: InFlight) -> InFlight:
    """The state after an event, with totals of all runs of the task."""
    if before is None:
        return event
    latency = tuple(map(sum, zip(before.latency, event.latency, strict=True)))
    return replace(event, paused_ms=before.paused_ms + event.paused_ms, latency=latency)


def _transactional(state: TaskMetrics, event: Transactional, now_ms: int) -> TaskMetrics:
    transactions = state.transactions
    for size in event.sizes:
        transactions = transactions.add(size, now_ms)
    return replace(state, transactions=transactions, transacted=state.transacted + len(event.sizes))


def _state_changed(state: TaskMetrics, event: StateChanged, now_ms: int) -> TaskMetrics:
    spent = {**state.spent_ms, state.status: state.spent_ms.get(state.status, 0) + now_ms - state.since_ms}
    changed = replace(state, status=event.status, since_ms=now_ms, spent_ms=spent, restarts=event.restarts)
    if event.status != "failed":
        return changed
    return replace(changed, failures=state.failures + 1, error=(event.error or "")[:_LONGEST_ERROR], error_ms=now_ms)


def _batch(state: TaskMetrics, event: Batch, now_ms: int) -> TaskMetrics:
    updated = replace(
        state,
        read=state.read.add(event.read, now_ms),
        written=state.written.add(event.written, now_ms),
        batches=state.batches + 1,
        failed_records=state.failed_records + event.failed,
        skipped=state.skipped + event.skipped,
        logged=state.logged + event.logged,
        letters=state.letters + event.letters,
        error_ms=now_ms if event.failed else state.error_ms,
    )
    if not event.read:  # offsets without records, as transactions leave them
        return updated
    return replace(updated, sizes=state.sizes.add(event.read, now_ms), times_ms=state.times_ms.add(event.took_ms, now_ms))
