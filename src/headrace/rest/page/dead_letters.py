"""Dead letters: why records failed, what a changed chain would make of them, and their replay, after a dry run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.responses import Response

from headrace.config.secrets import put_back
from headrace.dead_letters import NOT_WRITTEN
from headrace.errors import BadRequestError, NotFoundError
from headrace.rest.page.call import Call
from headrace.rest.page.edit import from_json, hidden
from headrace.rest.page.render import pretty

_PER_PAGE = "50"
_LETTERS = ("headrace", "dead-letters")


def screen(call: Call) -> Response:
    """The topics, or one of them."""
    topic, connector = call.query("topic"), call.query("connector")
    config = pretty(hidden(*_running(call, connector))) if topic and connector and call.is_admin else ""
    return call.page("dead_letters.html", topic=topic, connector=connector, before=call.query("before"), config=config)


def _running(call: Call, connector: str) -> tuple[Mapping[str, str | None], Any]:
    config = call.herder.info(connector).config
    return config, call.secrets(config)


def topics(call: Call) -> Response:
    """The list; their clusters are asked, so the page loads it after itself."""
    topics = call.ask_json("GET", *_LETTERS)["topics"]
    counts = Counter(topic["topic"] for topic in topics)
    return call.page("dead_letters_topics.html", topics=topics, in_several={name for name in counts if counts[name] > 1})


def letters(call: Call) -> Response:
    """Some letters of a topic; the cluster is asked, so the page loads them after itself."""
    topic, before = call.query("topic"), call.query("before")
    query = {"count": _PER_PAGE, "before": before, "connector": call.query("connector")}
    reply = call.ask("GET", *_LETTERS, topic, query=query)
    if not reply.ok:
        return call.page("dead_letters_page.html", topic=topic, page=None, sentence=reply.message, connector="")
    return call.page(
        "dead_letters_page.html", topic=topic, page=reply.json, sentence="", connector=call.query("connector"), before=before
    )


def preview(call: Call) -> Response:
    """The chosen letters through the chain as it runs, or, for admins, as it was typed; nothing is written."""
    body: dict[str, Any] = {"letters": list(_chosen(call)), "connector": call.field("connector") or None}
    if text := call.field("json"):
        if not call.is_admin:  # with the connector's secrets, a configuration could have them sent anywhere
            raise BadRequestError("To try a changed configuration needs the role admin.")
        body["config"] = put_back(from_json(text), _running_config(call, call.field("connector")))
    reply = call.ask("POST", *_LETTERS, call.field("topic"), "preview", body=body)
    preview_body = reply.json if reply.ok else {"records": []}
    return call.page("edit_preview.html", found=preview_body, sentence="" if reply.ok else reply.message)


def _running_config(call: Call, connector: str) -> Mapping[str, str | None]:
    try:
        return call.herder.info(connector).config
    except NotFoundError:
        return {}


def confirm(call: Call) -> Response:
    """The dialog that says what a replay would write: a dry run."""
    topic, ids, connector = call.field("topic"), _chosen(call), call.field("connector")
    letters_of_run = _replay(call, dry_run=True)["letters"]
    ready = [letter for letter in letters_of_run if letter["outcome"] == "ready"]
    return call.page(
        "dead_letters_confirm.html", topic=topic, connector=connector, ready=ready, count=len(ids),
        left=[letter for letter in letters_of_run if letter["outcome"] != "ready"],
    )  # fmt: skip


def replay(call: Call) -> Response:
    """Replay the chosen dead letters; returns how many were written, and which were left and why."""
    letters_of_run = _replay(call, dry_run=False)["letters"]
    counts = {kind: sum(letter["outcome"] == kind for letter in letters_of_run) for kind in ("replayed", "already-replayed")}
    sentence = f"{counts['replayed']} replayed"
    sentence += f", {counts['already-replayed']} had been already" if counts["already-replayed"] else ""
    failed = [f"{letter['id']}: {letter['message']}" for letter in letters_of_run if letter["outcome"] in NOT_WRITTEN]
    return call.message(". ".join([sentence, *failed]).removesuffix(".") + ".", ok=not failed, then="replayed")


def _replay(call: Call, *, dry_run: bool) -> Any:
    body = {"letters": list(_chosen(call)), "connector": call.field("connector") or None, "dry_run": dry_run}
    return call.ask_json("POST", *_LETTERS, call.field("topic"), "replay", body=body)


def _chosen(call: Call) -> Sequence[str]:
    ids = list(dict.fromkeys(call.form.get("letter", ())))
    if not ids:
        raise BadRequestError("No dead letter is chosen: select at least one.")
    return ids


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {
    ("GET", "/dead-letters"): screen,
    ("GET", "/dead-letters/topics"): topics,
    ("GET", "/dead-letters/page"): letters,
    ("POST", "/dead-letters/preview"): preview,
    ("POST", "/dead-letters/confirm"): confirm,
    ("POST", "/dead-letters/replay"): replay,
}
