"""What keeps people from reading a page, or from working it by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from tests.page.conftest import NARROW, WIDE

if TYPE_CHECKING:
    from playwright.sync_api import Page

_NAME_OF = """(one) => {
  const labels = [...(one.labels ?? [])].map((label) => label.textContent).join('').trim();
  return one.getAttribute('aria-label') || labels || one.textContent.trim(); }"""
_FOCUSED = f"() => ({_NAME_OF})(document.activeElement)"
_SHOWN = f"""(name) => [...document.querySelectorAll('button, a[href], input, select, textarea, summary, [tabindex]')]
  .some((one) => ({_NAME_OF})(one) === name)"""


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the control of this name has the focus; what a page loads after itself is waited for."""
    page.wait_for_function(_SHOWN, arg=name)
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate(_FOCUSED) == name:
            return
    raise AssertionError(f"no control {name!r} is reached by Tab")


NAMELESS = """() => [...document.querySelectorAll('button, a[href], input:not([type=hidden]), select, textarea')].filter((one) =>
 {
  const labels = [...(one.labels ?? [])].map((label) => label.textContent).join('');
  return !(one.getAttribute('aria-label') || labels || one.textContent).trim(); }).map((one) => one.outerHTML)"""
PALE = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const ground = (one) => { for (; one; one = one.parentElement) { const c = parse(getComputedStyle(one).backgroundColor);
    if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (walk.nextNode()) { const one = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
    if (!text || !one.checkVisibility() || one.closest('script')) continue;
    const [a, b] = [light(parse(getComputedStyle(one).color)), light(ground(one))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) found.push(text + ' ' + ((a + .05) / (b + .05)).toFixed(2)); }
  return found; }"""
_BOTH: tuple[tuple[Literal["dark", "light"], int], ...] = (("dark", NARROW), ("light", WIDE))
UNSEEN = """() => {
  const controls = document.querySelectorAll('button, a[href], input:not([type=hidden]), select, textarea, summary');
  const found = [...controls].filter((one) => {
    one.focus({ preventScroll: true });
    const style = getComputedStyle(one);
    return document.activeElement === one && style.outlineStyle === 'none' && style.boxShadow === 'none'; });
  document.activeElement.blur();
  return found.map((one) => one.outerHTML); }"""
"""Controls of which nobody sees that they have the focus; after a key, as a browser shows it only to those who use keys."""


def problems_of(page: Page) -> dict[str, object]:
    """Wider than the window, controls without a name, pale texts, controls whose focus is not to be seen."""
    page.keyboard.press("Tab")
    wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    found = {"nameless": page.evaluate(NAMELESS), "pale": page.evaluate(PALE), "unseen": page.evaluate(UNSEEN)}
    return {"wider": wider} | found


def look_at(page: Page, name: str, shot: Callable[..., None]) -> None:
    """Look at a page in light and dark, wide and narrow: it has no problems; a picture of each is kept."""
    for scheme in ("light", "dark"):
        for width in (WIDE, NARROW):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # colours change at once
            problems = problems_of(page)
            assert problems == {"wider": 0, "nameless": [], "pale": [], "unseen": []}, (name, scheme, width, problems)
            shot(page, f"{name}-{scheme}-{width}")


def look_at_dialog(page: Page, name: str, shot: Callable[..., None]) -> None:
    """Look at the dialog that is open, wide in light and narrow in dark; the page is as before afterwards."""
    for scheme, width in _BOTH:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        cut = page.evaluate("(([one]) => one.scrollWidth - one.clientWidth)(document.querySelectorAll('dialog[open]'))")
        problems = problems_of(page) | {"cut": cut}
        assert problems == {"wider": 0, "nameless": [], "pale": [], "unseen": [], "cut": 0}, (name, scheme, width, problems)
        shot(page, f"{name}-dialog-{scheme}-{width}")
