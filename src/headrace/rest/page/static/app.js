// What htmx does not do by itself: renew parts of the page without losing selection, focus or what is unfolded; dialogs; times.
"use strict";
(() => {
  const EVERY_MS = 2000;
  const kept = document.getElementById("bulk")?.dataset.keep; // a choice that outlives filters and pages has a name
  const chosen = new Set(kept ? JSON.parse(sessionStorage.getItem(kept) ?? "[]") : []);
  let lastAnswer = Date.now();

  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  // ---------------------------------------------------------------- renewing
  const renew = (part) => {
    const marked = document.getSelection();
    if (part.dataset.busy || (!marked.isCollapsed && part.contains(marked.anchorNode))) return; // what is being copied stays
    part.dataset.busy = "1";
    const headers = part.dataset.seen ? { "X-Seen": part.dataset.seen } : {};
    htmx.ajax("GET", part.dataset.refresh, { source: part, target: part, swap: "innerHTML", headers })
      .catch(() => undefined).finally(() => delete part.dataset.busy);
  };
  const renewAll = () => all("[data-refresh]").forEach(renew);
  setInterval(() => { if (!document.hidden) renewAll(); }, EVERY_MS);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) renewAll(); });
  document.body.addEventListener("changed", () => setTimeout(renewAll, 300));

  let pressed = null; // what the mouse, or a finger, is on: if it were replaced before it is let go, that would be no click
  document.addEventListener("pointerdown", ({ target, button }) => { if (button === 0) pressed = target; }, true);
  ["pointerup", "pointercancel"].forEach((end) => document.addEventListener(end, () => { pressed = null; }, true));
  document.addEventListener("pointermove", ({ buttons }) => { if (!buttons) pressed = null; }); // let go elsewhere

  const atEnd = (log) => log.scrollHeight - log.scrollTop - log.clientHeight < 8;
  let focused = null;
  let unfolded = [];
  let sampleAt = null; // the time of the sample that is read in a chart
  let readAt = null; // where somebody reads in a log, who is not at its end
  let leftOut = null; // the last answer that was not shown
  document.body.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const target = detail.target, now = document.activeElement;
    if (target.dataset.busy && pressed && target.contains(pressed)) { detail.shouldSwap = false; leftOut = detail.xhr; return; }
    focused = target.contains(now) && now !== target ? now : null;
    sampleAt = focused?.dataset.at === undefined ? null : JSON.parse(focused.dataset.times)[focused.dataset.at];
    unfolded = all("details[open][id]", target).map((one) => one.id);
    const log = target.querySelector("ol.log");
    readAt = log && !atEnd(log) ? log.scrollTop : null;
  });
  document.body.addEventListener("htmx:afterSwap", ({ detail, target: added }) => {
    const target = detail.target.isConnected ? detail.target : added; // an editor takes the place of the one before
    unfolded.forEach((id) => { const one = document.getElementById(id); if (one) one.open = true; });
    if (focused && !focused.isConnected) {
      const now = again(target, focused);
      now?.focus({ preventScroll: true });
      if (now && sampleAt !== null) read(now, JSON.parse(now.dataset.times).findIndex((time) => time > sampleAt - 5000));
    }
    focused = null;
    all("ol.log", target).forEach((log) => { log.scrollTop = readAt ?? log.scrollHeight; });
    settle();
    if (target.id === "dialog" && !target.open) target.showModal();
  });
  const again = (target, gone) => {
    if (gone.id) return document.getElementById(gone.id);
    const key = (one) => [one.tagName, one.name, one.value, one.getAttribute("href"), one.getAttribute("aria-label")].join("\n");
    const alike = all(gone.tagName, target).filter((one) => key(one) === key(gone)); // buttons may differ by their text alone
    return alike.find((one) => one.textContent === gone.textContent) ?? (alike.length === 1 ? alike[0] : undefined);
  };
  document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
    const { xhr, target } = detail, stamp = xhr?.getResponseHeader("X-Stamp");
    if (stamp && target && xhr !== leftOut) target.dataset.seen = stamp;
    else if (target && xhr?.status && xhr.status !== 204) delete target.dataset.seen; // a problem took the place of what was seen
    if (xhr?.status) { lastAnswer = Date.now(); document.getElementById("away").hidden = true; }
    const dialog = document.getElementById("dialog");
    if (dialog.contains(detail.elt) && detail.requestConfig?.verb === "post" && !("stays" in detail.elt.dataset)) dialog.close();
  });
  document.body.addEventListener("htmx:sendError", () => {
    const since = document.getElementById("away-since");
    since.dateTime = new Date(lastAnswer).toISOString();
    document.getElementById("away").hidden = false;
    settle();
  });

  // ---------------------------------------------------------------- choosing rows
  const unseen = () => {
    const shown = new Set(all("td.tick input").map((box) => box.value));
    return [...chosen].filter((name) => !shown.has(name));
  };
  const count = () => {
    const bulk = document.getElementById("bulk");
    if (!bulk) return;
    bulk.hidden = chosen.size === 0;
    document.getElementById("chosen").textContent = String(chosen.size);
    document.getElementById("unseen").textContent = unseen().length ? `, ${unseen().length} of them not shown here` : "";
    if (kept) sessionStorage.setItem(kept, JSON.stringify([...chosen]));
    const boxes = all("td.tick input"), page = document.querySelector("[data-choose=page]");
    if (page) page.checked = boxes.length > 0 && boxes.every((box) => box.checked);
  };
  document.addEventListener("change", ({ target }) => {
    if (target.matches("[data-choose=page]")) all("td.tick input").forEach((box) => { box.checked = target.checked; });
    else if (!target.matches("td.tick input")) return;
    all("td.tick input").forEach((box) => (box.checked ? chosen.add(box.value) : chosen.delete(box.value)));
    count();
  });
  document.body.addEventListener("htmx:configRequest", ({ detail }) => { // those that a filter or a renewal has taken away, too
    const form = detail.verb === "post" ? detail.elt.closest("#selection") : null;
    if (form) unseen().forEach((name) => detail.formData.append(form.dataset.choice, name));
  });
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-close], [data-choose=none], [data-names]");
    if (!button) return;
    if (button.dataset.close === "dialog") document.getElementById("dialog").close();
    if (button.dataset.close === "message") button.closest(".message").remove();
    if (button.dataset.names) {
      fetch(button.dataset.names, { headers: { "HX-Request": "true" } }).then((answer) => answer.ok ? answer.json() : [])
        .then((names) => { names.forEach((name) => chosen.add(name)); settle(); }).catch(() => undefined);
    }
    if (button.dataset.choose === "none") { chosen.clear(); settle(); }
  });
  document.addEventListener("keydown", (event) => {
    const search = document.getElementById("q");
    if (event.key === "/" && search && !event.target.matches("input, textarea, select")) { event.preventDefault(); search.focus(); }
  });

  // ---------------------------------------------------------------- settings with several lines
  document.addEventListener("paste", (event) => { // a field of one line would join them: it becomes one of several
    const field = event.target, text = event.clipboardData?.getData("text/plain").trimEnd() ?? "";
    if (!field.matches?.("#edit input[name=value]") || !/[\r\n]/.test(text)) return;
    event.preventDefault();
    const lines = document.createElement("textarea");
    for (const { name, value } of field.attributes) if (!["value", "list", "type"].includes(name)) lines.setAttribute(name, value);
    lines.rows = Math.min(12, text.split("\n").length);
    lines.value = field.value.slice(0, field.selectionStart) + text + field.value.slice(field.selectionEnd);
    field.replaceWith(lines);
    lines.focus();
    lines.dispatchEvent(new Event("input", { bubbles: true }));
  });

  // ---------------------------------------------------------------- charts: the value under the pointer, or by arrow keys
  const read = (chart, at) => { // at: a sample, from the oldest; null: now again
    const times = JSON.parse(chart.dataset.times), now = chart.closest("figure").querySelector("b"), mark = chart.querySelector(".at");
    now.dataset.now ??= now.textContent;
    mark.setAttribute("visibility", at === null ? "hidden" : "visible");
    if (at === null) { now.textContent = now.dataset.now; delete chart.dataset.at; return; }
    const sample = Math.max(0, Math.min(times.length - 1, at)), value = JSON.parse(chart.dataset.values)[sample];
    const x = 600 * (1 - (times.length - 1 - sample) / (chart.dataset.samples - 1));
    mark.setAttribute("x1", x); mark.setAttribute("x2", x);
    chart.dataset.at = sample;
    now.textContent = `${new Date(times[sample]).toTimeString().slice(0, 8)}: ${value || "not measured"}`;
  };
  const chartAt = (event) => event.target.closest?.("svg[data-values]");
  document.addEventListener("pointermove", (event) => {
    const chart = chartAt(event);
    if (!chart) return;
    const place = chart.getBoundingClientRect(), last = JSON.parse(chart.dataset.times).length - 1;
    read(chart, last - Math.round((1 - (event.clientX - place.left) / place.width) * (chart.dataset.samples - 1)));
  });
  document.addEventListener("pointerout", (event) => { const chart = chartAt(event); if (chart) read(chart, null); });
  document.addEventListener("focusout", (event) => { const chart = chartAt(event); if (chart) read(chart, null); });
  document.addEventListener("keydown", (event) => {
    const chart = chartAt(event), step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!chart || !step) return;
    event.preventDefault();
    read(chart, Number(chart.dataset.at ?? JSON.parse(chart.dataset.times).length) + step);
  });

  // ---------------------------------------------------------------- times
  const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const times = () => all("time[datetime]").forEach((time) => {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) return;
    if ("clock" in time.dataset) { time.textContent = at.toTimeString().slice(0, 8); return; }
    const seconds = (at - Date.now()) / 1000;
    const [unit, size] = UNITS.find(([, one]) => Math.abs(seconds) >= one) ?? ["second", 1];
    time.textContent = relative.format(Math.round(seconds / size), unit);
  });
  setInterval(times, 10000);

  const settle = () => {
    all("td.tick input").forEach((box) => { box.checked = chosen.has(box.value); });
    count();
    times();
  };
  if (document.querySelector("[data-reload]")) setTimeout(() => location.reload(), EVERY_MS);
  settle();
})();
