"""`python quix.py BROKERS APPLICATION RECORDS`: the count of StreamsPeer.java with Quix Streams; run by its own Python."""

# pyright: reportMissingImports=false, reportOptionalMemberAccess=false
import sys
import tempfile
import time

from quixstreams import Application

brokers, application, records = sys.argv[1], sys.argv[2], int(sys.argv[3])
seen, begin, app = 0, 0.0, None


def count(value, state):
    """One more of this key."""
    global seen, begin
    begin = begin or time.monotonic()
    seen += 1
    n = state.get("n", 0) + 1
    state.set("n", n)
    if seen == records:
        app.stop()
    return n


with tempfile.TemporaryDirectory() as state_dir:
    app = Application(
        broker_address=brokers, consumer_group=application, auto_offset_reset="earliest", state_dir=state_dir, loglevel="WARNING"
    )
    frame = app.dataframe(app.topic("records", key_deserializer="string", value_deserializer="string"))
    frame.apply(count, stateful=True).to_topic(app.topic("out", key_serializer="string", value_serializer="json"))
    app.run()
print(f"seconds={time.monotonic() - begin}", flush=True)
