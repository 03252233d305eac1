"""Offsets: shown, and of a stopped connector edited: as JSON, then what would change, then applied."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from headrace.errors import BadRequestError, ConnectError, HeadraceError, RestError
from headrace.rest import body
from headrace.rest.page.call import Call, sentence_of
from headrace.rest.page.typed_json import typed_json
from headrace.runtime.sink.plan import group_of

Offsets = list[dict[str, Any]]


@dataclass(frozen=True)
class OffsetChangeRow:
    """One partition whose offset changes."""

    partition: Any
    """As the connector's offsets have it: a map, or topic and partition."""
    old: Any
    """None: there is none before."""
    new: Any
    """None: there is none after."""


def show(call: Call) -> Response:
    """The committed offsets; the cluster is asked, so the page loads it after itself."""
    name = call.query("name")
    try:
        current, sentence = call.ask_json("GET", "connectors", name, "offsets")["offsets"], ""
    except HeadraceError as error:
        current, sentence = [], sentence_of(error)
    stopped, info = _state(call, name) == "STOPPED", call.herder.info(name)
    config = {key: value or "" for key, value in info.config.items()}
    group = group_of(name, config, call.herder.config) if info.type == "sink" else None
    return call.page(
        "offsets.html", name=name, found=current, sentence=sentence, stopped=stopped, edit=_lines(current), group=group
    )


def _state(call: Call, name: str) -> str:
    reply = call.ask("GET", "connectors", name, "status")
    return reply.json["connector"]["state"] if reply.ok else ""


def _lines(entries: Offsets) -> str:
    """One partition a line, so that an edit is one line, too."""
    return "[\n" + ",\n".join("  " + json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n]"


def review(call: Call) -> Response:
    """The dialog with the changes of an edit."""
    name = call.field("name")
    desired = _parsed(call.field("offsets"))
    running: Offsets = call.ask_json("GET", "connectors", name, "offsets")["offsets"]
    changes = changed(running, desired)
    entries = [{"partition": change.partition, "offset": change.new} for change in changes]
    return call.page("offsets_review.html", name=name, changes=changes, body=json.dumps(entries, ensure_ascii=False))


def changed(running: Offsets, desired: Offsets) -> list[OffsetChangeRow]:
    """The partitions whose offset differs; a missing partition loses its offset."""
    old, new = ({_key(entry): entry for entry in entries} for entries in (running, desired))
    rows = [OffsetChangeRow(entry["partition"], _offset(old.get(key)), _offset(entry)) for key, entry in new.items()]
    rows += [OffsetChangeRow(entry["partition"], _offset(entry), None) for key, entry in old.items() if key not in new]
    return [row for row in rows if row.old != row.new]


def _key(entry: dict[str, Any]) -> str:
    return json.dumps(entry["partition"], sort_keys=True)


def _offset(entry: dict[str, Any] | None) -> Any:
    return entry.get("offset") if entry else None


def apply(call: Call) -> Response:
    """Set the offsets."""
    name = call.field("name")
    changes = {"offsets": _parsed(call.field("offsets"))}
    message = call.ask_json("PATCH", "connectors", name, "offsets", body=changes)["message"]
    return call.message(message, ok=True, then="offsets-changed")


def confirm_reset(call: Call) -> Response:
    """The dialog with the offsets that a reset removes."""
    if not call.may_operate:
        raise RestError(403, "This needs the role operate.")
    name = call.field("name")
    running: Offsets = call.ask_json("GET", "connectors", name, "offsets")["offsets"]
    return call.page("offsets_reset.html", name=name, found=running, sink=call.herder.info(name).type == "sink")


def reset(call: Call) -> Response:
    """Forget all offsets."""
    message = call.ask_json("DELETE", "connectors", call.field("name"), "offsets")["message"]
    return call.message(message, ok=True, then="offsets-changed")


def _parsed(text: str) -> Offsets:
    """Raises BadRequestError."""
    try:
        entries = body.plain(typed_json(text, "This"))
    except ConnectError as error:
        raise BadRequestError(error.message) from None
    # without exactly these two a misspelt "offset" would be taken for a reset
    if not isinstance(entries, list) or not all(isinstance(e, dict) and e.keys() == {"partition", "offset"} for e in entries):
        raise BadRequestError('Offsets are a list of {"partition": {…}, "offset": {…}}.')
    return entries


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {
    ("GET", "/connector/offsets"): show,
    ("POST", "/connector/offsets/review"): review,
    ("POST", "/connector/offsets/apply"): apply,
    ("POST", "/connector/offsets/confirm-reset"): confirm_reset,
    ("POST", "/connector/offsets/reset"): reset,
}
