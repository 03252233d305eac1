"""New connectors and edits: form or JSON, validated while typing; what changes is shown before it is applied.

Secrets never reach the browser: they stand as `[hidden]` in form, JSON and diff, and are put back here, for admins alone, since
whoever may try a configuration with them could have them sent anywhere.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.responses import Response

from headrace.config.diff import ChangedSetting, compare
from headrace.config.secrets import Secrets, put_back, without_logins
from headrace.config.whole_number import shortened, whole_number
from headrace.errors import BadRequestError, NotFoundError, RestError
from headrace.rest import body
from headrace.rest.page.call import Call
from headrace.rest.page.edit_form import groups_of
from headrace.rest.page.render import pretty, to
from headrace.rest.page.typed_json import typed_json
from headrace.rest.roles import Role

Settings = dict[str, str | None]

_CLASS, _BLANK_ROWS, _MAX_LIVE = "connector.class", 3, 100
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class Draft:
    """What is being edited."""

    name: str
    config: Settings
    """As the browser has it, secrets hidden."""
    mode: str
    """`form` or `json`."""
    text: str
    """The JSON, as it was typed."""
    is_new: bool
    base: str
    """The digest of the running configuration that the edit began with; empty for a new connector."""


def edit(call: Call) -> Response:
    """Edit a connector."""
    name = call.query("name")
    config = call.herder.info(name).config
    secrets = call.secrets(config)
    shown = hidden(config, secrets)
    draft = Draft(name, shown, "form", pretty(shown), False, _digest(config))
    return call.page("edit.html", draft=draft, **_form(call, draft))


def hidden(config: Mapping[str, str | None], secrets: Secrets) -> Settings:
    """A configuration as a browser may have it: secrets hidden, without its name."""
    return {key: value for key, value in secrets.public(config).items() if key != "name"}


def new(call: Call) -> Response:
    """Choose a class, then fill in its form."""
    plugin = call.query("plugin")
    if not plugin:
        return call.page("new.html", plugins=call.ask_json("GET", "connector-plugins"))
    config: Settings = {_CLASS: plugin, "tasks.max": "1"}
    draft = Draft("", config, "form", pretty(config), True, "")
    return call.page("edit.html", draft=draft, **_form(call, draft))


def form(call: Call) -> Response:
    """The form again, from what is in it: with more rows, or as JSON, or back."""
    draft = _draft(call)
    mode = call.field("to") or draft.mode
    turned = Draft(draft.name, draft.config, mode, pretty(draft.config), draft.is_new, draft.base)
    return call.page("edit_form.html", draft=turned, **_form(call, turned))


def _form(call: Call, draft: Draft) -> dict[str, Any]:
    if draft.mode != "form" or not call.is_admin:
        return {"groups": [], "blank": []}
    groups = groups_of(draft.config, _validated(call, draft))
    count = sum(len(group.rows) + len(group.more) for group in groups)
    return {"groups": groups, "blank": range(count, count + _BLANK_ROWS)}


def _validated(call: Call, draft: Draft) -> list[dict[str, Any]]:
    """What validation says of each setting, those of the transforms and converters in use included; nothing if it cannot."""
    plugin = draft.config.get(_CLASS)
    try:
        config = put_back(draft.config, _running(call, draft) or {})
    except BadRequestError:  # said when it is validated: the form is shown all the same
        config = draft.config
    named = {"name": draft.name or "new"} | config
    reply = call.ask("PUT", "connector-plugins", plugin, "config", "validate", body=named) if plugin else None
    return reply.json["configs"] if reply and reply.ok else []


def validate(call: Call) -> Response:
    """The errors of what is typed so far, each for its field."""
    draft = _draft(call)
    errors = _errors(call, draft)
    keys = call.form.get("key", ()) if draft.mode == "form" else ()
    at_field = [errors.get(key, []) for key in keys]
    elsewhere = {key: sentences for key, sentences in errors.items() if key not in keys}
    return call.page("edit_errors.html", at_field=at_field, elsewhere=elsewhere, count=sum(map(len, errors.values())))


def _errors(call: Call, draft: Draft) -> dict[str, list[str]]:
    """The worker's sentences, by setting."""
    config = _restored(call, draft)
    if not (plugin := config.get(_CLASS)):
        return {_CLASS: ["Name the class of the connector."]}
    path = ("connector-plugins", plugin, "config", "validate")
    reply = call.ask("PUT", *path, body=config)
    if not reply.ok:
        return {_CLASS: [reply.message]}
    values = [config["value"] for config in reply.json["configs"] if config["value"]]
    errors = {value["name"]: value["errors"] for value in values if value["errors"]}
    return errors | ({"name": ["Give the connector a name."]} if not draft.name else {})


def review(call: Call) -> Response:
    """The dialog with the diff and the button that applies it. Raises RestError 409 as `apply`."""
    draft = _draft(call)
    running = _running(call, draft)
    _require_unchanged(draft, running)
    errors = _errors(call, draft)
    desired = _restored(call, draft)
    secrets = call.secrets(running or {}, desired)
    diff = compare(draft.name, running, desired).masked(secrets)
    # compared as if they were not there; while they are, a worker takes no other change
    nulls = (ChangedSetting(key, "null", None) for key, value in (running or {}).items() if value is None and key not in desired)
    diff = replace(diff, settings=(*diff.settings, *nulls))
    return call.page("edit_review.html", draft=draft, diff=diff, errors=errors, body=json.dumps(draft.config, ensure_ascii=False))


def apply(call: Call) -> Response:
    """Apply the edit if the running configuration has not changed since the form was opened. Raises RestError 409 otherwise."""
    draft = _draft(call)
    _require_unchanged(draft, _running(call, draft))
    config = _restored(call, draft)
    if draft.is_new:
        request = {"name": draft.name, "config": config, "initial_state": call.field("initial_state") or "RUNNING"}
        reply = call.ask("POST", "connectors", body=request)
    else:
        reply = call.ask("PUT", "connectors", draft.name, "config", body=config)
    if not reply.ok:
        return call.message(reply.message, ok=False, status=reply.status)
    response = call.message(f"{draft.name} has been {'created' if draft.is_new else 'changed'}.", ok=True)
    response.headers["HX-Redirect"] = to("/ui/connector", name=draft.name)
    return response


def topics(call: Call) -> Response:
    """The topics that the connector would write to and create; clusters are asked, so the dialog loads it after itself."""
    draft = _draft(call)
    reply = call.ask("POST", "headrace", "topics", "preview", body={"config": _restored(call, draft)})
    return call.page("edit_topics.html", plan=reply.json if reply.ok else None, sentence="" if reply.ok else reply.message)


def preview(call: Call) -> Response:
    """The newest records of the source through the chain, step by step; nothing is deployed."""
    draft, limit = _draft(call), call.field("live", "3")
    live = whole_number(limit, 1, _MAX_LIVE)
    if live is None:
        raise BadRequestError(f"Preview takes 1 to {_MAX_LIVE} records, not '{shortened(limit)}'.")
    reply = call.ask("POST", "headrace", "preview", body={"config": _restored(call, draft), "live": live})
    outcome = reply.json if reply.ok else {"records": []}
    return call.page("edit_preview.html", found=outcome, sentence="" if reply.ok else reply.message)


def _draft(call: Call) -> Draft:
    """The draft that the browser sent. Raises BadRequestError, RestError 403 without the right to change configurations."""
    if call.caller.role < Role.ADMIN:
        raise RestError(403, "This needs the role admin.")
    mode, text = call.field("mode", "form"), call.field("json")
    config = from_json(text) if mode == "json" else {}
    draft = Draft(call.field("name").strip(), config, mode, text, call.field("new") == "1", call.field("base"))
    if mode == "json":
        return draft
    rows = _from_rows(call.form.get("key", ()), call.form.get("value", ()), _running(call, draft) or {})
    return replace(draft, config=rows)


def _from_rows(keys: Sequence[str], values: Sequence[str], running: Mapping[str, str | None]) -> Settings:
    """The settings of a form: those without a value are not set, unless nothing, or null, is the value that runs."""
    rows = ((key.strip(), value) for key, value in zip(keys, values, strict=False))
    return {
        key: _typed(value, running.get(key)) for key, value in rows if key and (value or (key in running and not running[key]))
    }


def _typed(value: str, running: str | None) -> str | None:
    """The value of a field: that which runs, if the two differ only in what a browser cannot show, null and ends of lines.

    Where the form hides the logins of URLs, they stay hidden, for what is shown next.
    """
    text = _LINE_END.sub("\n", value)
    known = (running, running and without_logins(running))
    return next((known_value for known_value in known if _LINE_END.sub("\n", known_value or "") == text), value)


def from_json(text: str) -> Settings:
    """A configuration that was typed as JSON. Raises BadRequestError."""
    content = typed_json(text, "This")
    if not isinstance(content, dict) or any(isinstance(value, dict | list) for value in content.values()):
        raise BadRequestError('A configuration is one JSON object: {"setting": "value", …}.')
    return {key: body.text(value, key) for key, value in content.items() if key != "name"}


def _running(call: Call, draft: Draft) -> Mapping[str, str | None] | None:
    try:
        return None if draft.is_new or not draft.name else call.herder.info(draft.name).config
    except NotFoundError:
        return None


def _restored(call: Call, draft: Draft) -> Settings:
    """The configuration with its secrets and its name. Raises BadRequestError for a hidden value that there is not."""
    config = put_back(draft.config, _running(call, draft) or {})
    return ({"name": draft.name} if draft.name else {}) | config


def _require_unchanged(draft: Draft, running: Mapping[str, str | None] | None) -> None:
    """Raises RestError 409 if the connector has been changed or deleted since its form was opened: it would be overwritten."""
    if draft.is_new:
        return
    if running is None:
        raise RestError(409, f"{draft.name} has been deleted since this form was opened: nothing is applied.")
    if draft.base != _digest(running):
        raise RestError(
            409,
            f"The configuration of {draft.name} has been changed since this form was opened: reload the page, and edit again.",
        )


def _digest(config: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(config), sort_keys=True).encode()).hexdigest()[:32]


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {
    ("GET", "/edit"): edit,
    ("GET", "/new"): new,
    ("POST", "/edit/form"): form,
    ("POST", "/edit/validate"): validate,
    ("POST", "/edit/review"): review,
    ("POST", "/edit/apply"): apply,
    ("POST", "/edit/preview"): preview,
    ("POST", "/edit/topics"): topics,
}
