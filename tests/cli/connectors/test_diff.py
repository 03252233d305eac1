from __future__ import annotations

from headrace.cli.connectors.texts import diff_lines
from headrace.config.diff import Action, ChangedSetting, Diff, compare, plan, summary
from headrace.config.secrets import HIDDEN, Secrets


def test_a_new_connector_has_all_of_its_settings_new():
    assert compare("a", None, {"k": "v", "b": "w"}) == Diff(
        "a", Action.CREATE, (ChangedSetting("b", None, "w"), ChangedSetting("k", None, "v"))
    )


def test_added_changed_and_removed_keys_are_told_apart():
    running, wanted = {"same": "1", "changed": "1", "removed": "1"}, {"same": "1", "changed": "2", "added": "2"}
    settings = (ChangedSetting("added", None, "2"), ChangedSetting("changed", "1", "2"), ChangedSetting("removed", "1", None))
    assert compare("a", running, wanted) == Diff("a", Action.CHANGE, settings, unchanged=1)


def test_equal_configurations_stay():
    assert compare("a", {"k": "v"}, {"k": "v"}) == Diff("a", Action.KEEP, unchanged=1)


def test_a_stored_null_is_as_good_as_none():
    assert compare("a", {"k": "v", "n": None}, {"k": "v"}).action is Action.KEEP


def test_an_empty_value_is_a_value():
    assert compare("a", {"k": ""}, {}).settings == (ChangedSetting("k", "", None),)


def test_only_pruning_deletes_what_no_file_wants():
    running, wanted = {"old": {"k": "v"}, "kept": {"k": "v"}}, {"kept": {"k": "v"}, "added": {"k": "v"}}
    assert [(d.name, d.action) for d in plan(running, wanted)] == [("added", Action.CREATE), ("kept", Action.KEEP)]
    assert plan(running, wanted, prune=True)[-1] == Diff("old", Action.DELETE)
    assert summary(plan(running, wanted, prune=True)) == "1 to create, 1 to delete, 1 unchanged"


def test_a_masked_diff_shows_that_a_password_changes_but_neither_value():
    diff = compare("a", {"db.password": "one", "url": "x"}, {"db.password": "two", "url": "y"}).masked(Secrets())
    assert diff.settings == (ChangedSetting("db.password", HIDDEN, HIDDEN), ChangedSetting("url", "x", "y"))


def test_a_hidden_value_is_compared_with_no_other():
    running, wanted = {"password": HIDDEN, "url": f"https://{HIDDEN}@h", "k": "v"}, {"password": "a", "url": "https://u:p@h"}
    diff = compare("a", running, wanted, hides=True)
    assert (diff.not_known, diff.settings) == (("password", "url"), (ChangedSetting("k", "v", None),))
    assert [line.plain for line in diff_lines(diff)][2] == "    ? password  is hidden from this user"
    kept = compare("a", {"password": HIDDEN}, {"password": "a"}, hides=True)
    assert (kept.action, summary([kept]), next(diff_lines(kept)).plain) == (Action.KEEP, "1 not known", "= a: cannot be compared")
    moved = compare("a", running, {**wanted, "url": "https://u:p@other", "k": "v"}, hides=True)
    assert [setting.key for setting in moved.settings] == ["url"]
    assert compare("a", running, {"k": "v"}, hides=True).not_known == ()


def test_a_diff_reads_well():
    running = {"batch.size": "10", "file": "/a", "old": "gone", "k": "v"}
    wanted = {"batch.size": "20", "file": "", "topic": "tab\there [bold]", "k": "v"}
    lines = [line.plain for name in ("a b",) for line in diff_lines(compare(name, running, wanted))]
    assert lines == [
        "~ a b: changes",
        "    ~ batch.size  10 → 20",
        '    ~ file        /a → ""',
        "    - old         gone",
        "    + topic       tab\\there [bold]",
        "      1 unchanged",
    ]
    assert [line.plain for line in diff_lines(compare("x\x1b[2J", {}, None))] == ["- x\\x1b[2J: is deleted"]
