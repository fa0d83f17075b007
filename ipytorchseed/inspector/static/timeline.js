// The timeline: one row for each run. Rows are requested when they become visible. The kernel
// searches for a filter, from the newest run to the oldest.

import { button, fieldOf, fill, h, keep, span, write } from "./elements.js";
import { ROW, Shelf, inSight } from "./shelf.js";

/** @import {Placed, Props, Row, Said} from "./model" */

const KEPT = 400; // rows whose elements are kept

/** @param {Event} event */
const trOf = (event) => /** @type {HTMLElement} */ (event.target).closest("tr");

/** @param {Event} event */
const runOf = (event) => Number(trOf(event)?.dataset.run);

export class Timeline {
  /** @param {(question: Props) => void} ask @param {(id: number, second: boolean) => void} choose */
  constructor(ask, choose) {
    this.ask = ask;
    this.choose = choose;
    this.shelf = new Shelf();
    /** @type {string[]} */ this.columns = [];
    /** @type {Map<number, {row: Row | null | undefined, tr: HTMLElement}>} */ this.drawn = new Map();
    this.filter = { text: "", source: "", changed: false, all: false };
    this.round = 0; // the number of the search: answers to an older one are dropped
    this.low = 0; // where the search ends
    this.left = 0; // how many places it still has to search
    this.searching = false;
    this.added = 0; // rows listed above those that are drawn
    /** @type {number[]} The chosen runs. */ this.picked = [];
    this.active = 0; // the row that Tab moves to
    this.atEnd = true;
    this.frame = 0;
    this.count = span("its-dim its-count");
    this.head = h("thead");
    this.body = h("tbody");
    this.table = h("table", { "aria-label": "Timeline of runs" }, this.head, this.body);
    this.scroll = h("div", { class: "its-scroll" }, this.table);
    this.sources = h("select", { "aria-label": "Source" });
    this.bar = this.filters();
    this.scroll.onscroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = this.scroll;
      this.atEnd = scrollTop + clientHeight > scrollHeight - ROW;
      this.redraw();
    };
    this.body.onclick = (event) => {
      const id = runOf(event);
      if (!id) return;
      this.choose(id, event.shiftKey);
      trOf(event)?.querySelector("button")?.focus({ preventScroll: true }); // otherwise the notebook gets the keys
    };
    this.body.onkeydown = (event) => this.key(event);
  }

  get filtered() {
    return Boolean(this.filter.text || this.filter.source || this.filter.changed);
  }

  filters() {
    const text = h("input", { type: "search", placeholder: "Cell or run", "aria-label": "Cell or run" });
    const changed = h("input", { type: "checkbox" });
    const all = h("input", { type: "checkbox" });
    let delay = 0;
    const read = () => {
      this.filter = { text: text.value, source: this.sources.value, changed: changed.checked, all: all.checked };
      this.search();
    };
    text.oninput = () => {
      clearTimeout(delay);
      delay = setTimeout(read, 150);
    };
    changed.onchange = all.onchange = this.sources.onchange = read;
    const looks = { title: "Also runs that only looked, such as %why, or could not be parsed" };
    const boxes = [h("label", null, changed, " Only runs that differ"), h("label", looks, all, " All runs")];
    const props = { class: "its-filter", role: "search", "aria-label": "Runs to show" };
    return h("div", props, text, this.sources, ...boxes, this.count);
  }

  /** @param {Placed[]} rows The newest rows. */
  begin(rows) {
    this.shelf = new Shelf();
    this.drawn.clear();
    this.shelf.put(rows);
  }

  /** @param {Placed[]} rows @param {string[]} columns */
  rows(rows, columns) {
    this.shelf.put(rows);
    this.setColumns(columns);
    this.redraw();
  }

  /** @param {Extract<Said, {say: "run"}>} ran */
  ran({ place, row, columns }) {
    this.shelf.total = Math.max(this.shelf.total, place + 1);
    this.shelf.put([[place, row]]);
    this.setColumns(columns);
    if (this.filtered) this.search(this.left > 0 ? 0 : place);
    else if (this.shelf.found && !row.aside) this.shelf.list([place]);
    this.redraw();
  }

  /** @param {Extract<Said, {say: "found"}>} found */
  found({ round, places, low }) {
    if (round !== this.round) return;
    this.added += this.low ? 0 : places.length;
    this.shelf.list(places);
    this.left = low - this.low;
    this.searching = false;
    this.redraw();
  }

  /** @param {number} low Where to start the search: places found before it stay. */
  search(low = 0) {
    this.round += 1;
    this.low = low;
    this.left = this.added = 0;
    this.searching = false;
    if (this.filter.all && !this.filtered) this.shelf.found = null;
    else {
      if (!low) this.shelf.found = [];
      this.atEnd ||= !low;
      this.left = this.shelf.total - low;
      this.searchOn();
    }
    this.redraw();
  }

  searchOn() {
    if (this.searching || this.left <= 0) return;
    this.searching = true;
    this.ask({ ask: "find", round: this.round, ...this.filter, low: this.low, high: this.low + this.left });
  }

  /** @param {string[]} columns */
  setColumns(columns) {
    if (this.head.firstChild && columns.join("\n") === this.columns.join("\n")) return;
    this.columns = columns;
    this.drawn.clear();
    const titles = ["Run", "Cell", "Result", ...columns, "Time"];
    fill(this.head, [h("tr", { "aria-rowindex": 1 }, ...titles.map((title) => h("th", { scope: "col" }, title)))]);
    const { source } = this.filter;
    const options = columns.map((name) => h("option", { value: name, selected: name === source }, name));
    fill(this.sources, [h("option", { value: "" }, "Every source"), ...options]);
  }

  redraw() {
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = 0;
    const { shelf, scroll } = this;
    const { count, total } = shelf;
    scroll.hidden = !count;
    const height = scroll.clientHeight || 360;
    const held = scroll.scrollTop + this.added * ROW; // keep the visible rows in place
    const top = this.atEnd ? Math.max(0, count * ROW - height) : held;
    const [first, end] = inSight(top, height, count);
    const focused = this.body.contains(document.activeElement) && document.activeElement;
    const run = focused && focused.closest("tr")?.dataset.run;
    const rows = [];
    for (let index = first; index < end; index++) rows.push(this.row(index));
    if (!rows.some((each) => each.querySelector('[tabindex="0"]'))) {
      rows[rows.length - 1]?.querySelector("button")?.setAttribute("tabindex", "0");
    }
    const space = (size = 0) =>
      h("tr", { class: "its-space", "aria-hidden": "true", style: `height:${size * ROW}px` });
    keep(this.body, [space(first), ...rows, space(count - end)]);
    this.table.setAttribute("aria-rowcount", String(count + 1));
    const again = run && this.body.querySelector(`[data-run="${run}"] button`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
    if (this.atEnd) scroll.scrollTop = scroll.scrollHeight;
    else if (this.added) scroll.scrollTop = top;
    this.added = 0;
    this.searchOn();
    for (const place of this.drawn.keys()) if (this.drawn.size > KEPT) this.drawn.delete(place);
    const missing = shelf.missing(first, end);
    if (missing.length) this.ask({ ask: "rows", places: missing });
    const none = !count && this.left <= 0 && (total ? "No run matches." : "No run is recorded yet.");
    fill(this.count, [none || (this.filtered && `${write(count)} of ${write(total)}`), this.left > 0 && " searching…"]);
  }

  /** @param {number} index */
  row(index) {
    const place = this.shelf.place(index);
    const row = this.shelf.rows.get(place);
    let known = this.drawn.get(place);
    if (!known || known.row !== row) {
      known = { row, tr: this.drawRow(row) };
      this.drawn.set(place, known);
    }
    const { tr } = known;
    tr.setAttribute("aria-rowindex", String(index + 2));
    if (row) {
      const picked = this.picked.includes(row.id);
      const kin = this.picked.length && this.shelf.find(this.picked[0])?.kin;
      tr.classList.toggle("its-picked", picked);
      tr.classList.toggle("its-kin", row.kin === kin);
      const pick = tr.querySelector("button");
      pick?.setAttribute("aria-pressed", String(picked));
      pick?.setAttribute("tabindex", row.id === this.active ? "0" : "-1");
    }
    return tr;
  }

  /** @param {Row | null | undefined} row Null if it was deleted, undefined until it arrives. */
  drawRow(row) {
    if (!row) {
      const wide = { class: "its-dim", colspan: this.columns.length + 4 };
      return h("tr", { class: "its-row" }, h("td", wide, row === null ? "no longer kept" : "…"));
    }
    const { id, name, cell, rail, status, value, outcome, at, took, fields } = row;
    const look = outcome?.[0] ? "its-dim its-outcome" : "its-warn its-outcome";
    const undone = status === "undone";
    const result = [
      status !== "ok" && span(undone ? "its-dim" : "its-warn", undone ? "undone " : `▲ ${status} `),
      value && span("its-value", value),
      outcome && h("span", { class: look, title: outcome[2] }, outcome[1]),
    ];
    return h(
      "tr",
      { class: undone ? "its-row its-undone" : "its-row", "data-run": id },
      h("th", { scope: "row" }, button(name, null, { class: "its-pick" })),
      h("td", { class: "its-cell" }, h("span", { class: "its-rail", style: `--r:${rail}` }), h("code", { title: cell }, cell)),
      h("td", null, ...result),
      ...this.columns.map((each) => h("td", null, fieldOf(fields[each]))),
      h("td", { class: "its-dim", title: at }, took),
    );
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const id = runOf(event);
    if (event.key === "Enter" && event.shiftKey && id) {
      event.preventDefault();
      this.choose(id, true);
    }
    const page = Math.max(1, Math.floor(this.scroll.clientHeight / ROW) - 2);
    const far = this.shelf.count;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -far, End: far };
    const step = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (!step) return;
    event.preventDefault();
    const from = Number(trOf(event)?.getAttribute("aria-rowindex")) - 2;
    this.focusRow(Math.max(0, Math.min(far - 1, from + step)));
  }

  /** @param {number} index */
  focusRow(index) {
    const { scrollTop, clientHeight } = this.scroll;
    const low = (index + 1) * ROW - (clientHeight - this.head.offsetHeight);
    this.scroll.scrollTop = Math.max(low, Math.min(scrollTop, index * ROW));
    this.atEnd = index === this.shelf.count - 1;
    this.active = this.shelf.rows.get(this.shelf.place(index))?.id ?? 0;
    this.draw();
    const tr = this.body.querySelector(`[aria-rowindex="${index + 2}"]`);
    tr?.querySelector("button")?.focus({ preventScroll: true });
  }
}
