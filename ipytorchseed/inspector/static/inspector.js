// The inspector's view. It draws what the kernel tells and asks for what comes into sight; it does
// not reason. Every text is set as text: nothing that comes from a notebook is parsed as HTML.
// The types are in model.d.ts.

/** @import {Alone, Chip, Child, Cause, Curves, Field, Model, Now, Placed, Props, Ran, Row, Said, Settings, Standing, Why, Wish} from "./model" */

const ROW = 31; // height of a row in pixels, as in the stylesheet
const AHEAD = 12; // rows drawn above and below what is in sight
const MOST = 300; // rows asked for at a time
const KEPT = 400; // rows whose elements are kept
const QUIET = 250; // milliseconds without a run before the kernel is asked for details
const PATIENCE = 5000; // milliseconds after which a silent kernel is mentioned

/**
 * Make an element. Properties that begin with "on" are listeners; children that are nothing are
 * passed over.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 */
export function h(tag, props, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style") made.style.cssText = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  fill(made, children);
  return made;
}

/**
 * Replace what an element holds.
 * @param {Element} element
 * @param {Child[]} children
 */
function fill(element, children) {
  element.replaceChildren(...children.flatMap((each) => each || []));
}

/**
 * The same, leaving what stays where it is: a press on it would be lost else.
 * @param {Element} element
 * @param {Element[]} children
 */
function keep(element, children) {
  const kept = new Set(children);
  for (const each of [...element.children]) if (!kept.has(each)) each.remove();
  let at = element.firstElementChild;
  for (const each of children) {
    if (each === at) at = at.nextElementSibling;
    else element.insertBefore(each, at);
  }
}

/**
 * @param {string} look A class.
 * @param {...Child} children
 */
const span = (look, ...children) => h("span", { class: look }, ...children);

/**
 * @param {string} text
 * @param {((event: Event) => void) | null} onclick
 * @param {Props} [props]
 */
const button = (text, onclick, props) => h("button", { type: "button", onclick, ...props }, text);

/** @type {typeof button} A button that is of no use where nobody listens. */
const act = (text, onclick, props) => button(text, onclick, { class: "its-act", ...props });

/** A name of which a line may end after any dot or underscore. @param {string} name */
const breakable = (name) => name.split(/(?<=[._])/).flatMap((part) => [part, h("wbr")]);

/** @param {number} count */
const write = (count) => count.toLocaleString("en");

/**
 * Say which rows to draw.
 * @param {number} top How far the list is scrolled, in pixels.
 * @param {number} height How much of it is in sight, in pixels.
 * @param {number} count How many rows there are.
 * @returns {[first: number, end: number]}
 */
export function inSight(top, height, count) {
  const first = Math.max(0, Math.min(Math.floor(top / ROW), count - 1) - AHEAD);
  return [first, Math.min(count, Math.ceil((top + height) / ROW) + AHEAD)];
}

/** Rows by their place in the timeline, and which of the places are listed. */
export class Shelf {
  constructor() {
    /** @type {Map<number, Row | null>} */
    this.rows = new Map();
    this.total = 0;
    /** @type {number[] | null} Places that a filter let through; null where there is none. */
    this.found = null;
    /** @type {Set<number>} */
    this.asked = new Set();
  }

  get count() {
    return this.found ? this.found.length : this.total;
  }

  /** @param {number} index */
  place(index) {
    return this.found ? this.found[index] : index;
  }

  /** @param {Placed[]} pairs */
  put(pairs) {
    for (const [place, row] of pairs) {
      this.rows.set(place, row);
      this.asked.delete(place);
    }
  }

  /** @param {number} id */
  find(id) {
    for (const row of this.rows.values()) if (row?.id === id) return row;
    return null;
  }

  /** The newest run that is known. */
  get last() {
    return Math.max(0, ...[...this.rows.values()].map((row) => row?.id ?? 0));
  }

  /**
   * Places of listed rows that nobody has asked for; they count as asked for from now on.
   * @param {number} first
   * @param {number} end
   */
  missing(first, end) {
    /** @type {number[]} */
    const places = [];
    for (let index = first; index < end && places.length < MOST; index++) {
      const place = this.place(index);
      if (!this.rows.has(place) && !this.asked.has(place)) places.push(place);
    }
    for (const place of places) this.asked.add(place);
    return places;
  }

  /**
   * List further places, where they belong.
   * @param {number[]} places In ascending order, all before or all after those that are listed.
   */
  list(places) {
    const found = this.found ??= [];
    const fresh = places.filter((place) => !found.includes(place));
    this.found = fresh[0] < found[0] ? [...fresh, ...found] : [...found, ...fresh];
  }
}

/**
 * @param {Chip} it
 * @param {boolean} [other]
 */
function chip(it, other) {
  if (!it) return span("its-dim", "unknown");
  const [code, hue, digest] = it;
  const title = other ? `${digest}: another state than in the cell's run before` : digest;
  const look = { class: other ? "its-chip its-other" : "its-chip", style: `--h:${hue}`, title };
  return h("span", look, code, other && span("its-sr", " began elsewhere"));
}

/** @param {Field | undefined} field */
function fieldOf(field) {
  if (!field) return h("span", { class: "its-dim", "aria-hidden": "true" }, "·");
  const { from, to, other, between } = field;
  const jump = { class: "its-warn its-jump", title: "moved between the run before and this one" };
  return span(
    "",
    between && h("span", jump, h("span", { "aria-hidden": "true" }, "↯"), span("its-sr", "moved before ")),
    from && chip(from, other),
    from && to && span("its-arrow", "→"),
    to && chip(to),
  );
}

/** @param {Curves} curves */
function drawCurves({ name, box, paths }) {
  const says = `${name}: then (solid), now (dashed), their difference below`;
  const make = (tag = "", /** @type {Props} */ props) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in props) made.setAttribute(name, props[name]);
    return made;
  };
  const size = { viewBox: `0 0 ${box.join(" ")}`, width: box[0], fill: "none" };
  const svg = make("svg", { ...size, role: "img", "aria-label": says });
  /** @type {Props[]} */
  const looks = [
    { class: "its-then", "stroke-width": "1.6" },
    { class: "its-later", "stroke-width": "1.6", "stroke-dasharray": "5 3" },
    { stroke: "currentColor", opacity: ".6" },
  ];
  paths.forEach((d, index) => svg.append(make("path", { d, ...looks[index] })));
  return h("figure", null, svg, h("figcaption", { class: "its-dim" }, says));
}

/**
 * @param {string[]} titles
 * @param {Child[][]} rows
 */
function table(titles, rows) {
  const heads = titles.map((title) => h("th", { scope: "col" }, title));
  const body = rows.map(([first, ...rest]) =>
    h("tr", null, h("th", { scope: "row" }, first), ...rest.map((each) => h("td", null, each))),
  );
  return h("table", null, titles.length && h("thead", null, h("tr", null, ...heads)), h("tbody", null, ...body));
}

/**
 * @param {string} title
 * @param {string} more
 * @param {Child[][]} rows
 * @param {string[]} [titles]
 */
function folded(title, more, rows, titles = []) {
  if (!rows.length) return null;
  return h("details", null, h("summary", null, title, span("its-dim", more)), table(titles, rows));
}

/** One view of the inspector; a notebook may show several. */
class View {
  /**
   * @param {Model} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.token = Math.random().toString(36).slice(2); // by which answers find their view
    this.shelf = new Shelf();
    /** @type {Now | null} */ this.now = null;
    /** @type {string[]} */ this.columns = [];
    /** @type {Map<number, {row: Row | null | undefined, tr: HTMLElement}>} */ this.drawn = new Map();
    this.filter = { text: "", source: "", changed: false, all: false };
    this.round = 0; // of searches: answers to an older one are dropped
    this.low = 0; // where the search ends
    this.left = 0; // how many places it has yet to look at
    this.searching = false;
    this.added = 0; // rows listed above those that are drawn
    this.chosen = 0; // runs, by their numbers
    this.against = 0;
    this.active = 0; // the one that Tab leads to
    this.comparing = false;
    this.atEnd = true;
    this.stale = false;
    this.seen = true;
    this.timer = this.waiting = this.frame = 0;
    /** @type {HTMLElement | null} What focus goes back to. */ this.origin = null;

    this.status = span("its-dim its-status");
    this.note = h("p", { class: "its-note its-warn", hidden: true });
    this.told = h("div", { class: "its-told", role: "status", hidden: true });
    this.news = h("div", { class: "its-sr", role: "log" });
    this.form = h("form", { class: "its-form", hidden: true });
    this.cards = h("div", { class: "its-now", role: "list", "aria-label": "Where sources stand" });
    this.settings = h("details", { class: "its-settings" });
    this.alerts = h("div", { hidden: true });
    this.look = button("Look again", () => this.send({ ask: "open" }), { hidden: true });
    this.count = span("its-dim its-count");
    this.head = h("thead");
    this.body = h("tbody");
    this.table = h("table", { "aria-label": "Timeline of runs" }, this.head, this.body);
    this.scroll = h("div", { class: "its-scroll" }, this.table);
    this.why = h("section", { class: "its-why", "aria-label": "Why" });
    this.sources = h("select", { "aria-label": "Source" });
    const legend = "Equal chips are equal states · a ring: began in another state than the cell’s run before · ";
    this.root = h(
      "div",
      { class: "its its-inspector", role: "region", "aria-label": "Randomness" },
      this.bar(),
      this.note,
      this.form,
      this.told,
      this.cards,
      this.settings,
      this.alerts,
      this.filters(),
      this.scroll,
      h("p", { class: "its-legend its-dim" }, legend, span("its-warn", "↯"), " moved between runs"),
      this.why,
      this.news,
    );
    // Else the notebook takes keys for commands. It asks the focused element itself first.
    this.root.addEventListener("focusin", ({ target }) => {
      if (target instanceof HTMLElement) target.dataset.lmSuppressShortcuts = "true";
    });
    el.append(this.root);

    this.scroll.onscroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = this.scroll;
      this.atEnd = scrollTop + clientHeight > scrollHeight - ROW;
      this.redraw();
    };
    this.body.onclick = (event) => {
      const id = runOf(event);
      if (!id) return;
      this.choose(id, event.shiftKey || this.comparing);
      trOf(event)?.querySelector("button")?.focus({ preventScroll: true }); // else the notebook has the keys
    };
    this.body.onkeydown = (event) => this.key(event);
    this.root.onkeydown = (event) => {
      if (event.key === "Escape") this.closeForm();
      // JupyterLab keeps Enter from doing so by itself.
      if (event.key === "Enter" && event.target instanceof HTMLInputElement && event.target.form) {
        event.preventDefault();
        this.form.requestSubmit();
      }
    };
    this.hear = (/** @type {Said} */ message) => this.heard(message);
    this.lost = () => this.gone("The kernel was restarted or has ended: this is what it told last.");
    model.on("msg:custom", this.hear);
    model.on("comm_live_update", this.lost);
    this.watch = new IntersectionObserver((entries) => {
      this.seen = entries[entries.length - 1].isIntersecting;
      if (this.seen && this.stale) this.soon();
      this.redraw();
    });
    this.watch.observe(this.root);
    this.drawWhy(null);
    const told = model.get("told"); // where no shell runs: the page may be read without its process
    if (told) this.alone(told);
    else this.ask({ ask: "open" });
  }

  close() {
    this.model.off("msg:custom", this.hear);
    this.model.off("comm_live_update", this.lost);
    this.watch.disconnect();
    clearTimeout(this.timer);
    clearTimeout(this.waiting);
    cancelAnimationFrame(this.frame);
  }

  /** @param {Props} question */
  ask(question) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      if (this.now) this.drawStatus(true);
      else this.drawNote("Waiting for the kernel. If it has ended, run %rng again.");
    }, PATIENCE);
    this.send({ edition: this.now?.edition, ...question });
  }

  /** @param {Props} message */
  send(message) {
    try {
      this.model.send({ ...message, view: this.token });
    } catch {
      this.lost(); // the front end closed the connection, and tells of it later or never
    }
  }

  /** @param {Said} said */
  heard(said) {
    if (said.view) {
      if (said.view !== this.token) return;
      clearTimeout(this.waiting);
    }
    switch (said.say) {
      case "all":
        this.root.classList.add("its-live");
        this.root.classList.remove("its-gone");
        this.drawNote("");
        this.shelf = new Shelf();
        this.drawn.clear();
        this.shelf.put(said.rows);
        this.update(said);
        this.search();
        break;
      case "now":
        this.update(said);
        break;
      case "run":
        this.ran(said);
        break;
      case "moved":
        this.soon();
        break;
      case "rows":
        this.shelf.put(said.rows);
        this.setColumns(said.columns);
        this.redraw();
        break;
      case "found":
        if (said.round !== this.round) break;
        this.added += this.low ? 0 : said.places.length;
        this.shelf.list(said.places);
        this.left = said.low - this.low;
        this.searching = false;
        this.redraw();
        break;
      case "why":
        this.drawWhy(said);
        break;
      case "done":
        this.done(said);
        break;
      case "confirm":
        this.confirm(said.question, said.wish);
        break;
      case "gone":
        this.gone(said.text);
        break;
      case "back":
        this.ask({ ask: "open" });
        break;
      case "alone":
        this.alone(said);
    }
  }

  /** @param {Now} now */
  update(now) {
    this.stale = false;
    this.now = now;
    this.shelf.total = Math.max(now.total, this.shelf.total);
    if (now.settings) this.drawSettings(now.settings);
    this.setColumns(now.columns);
    this.drawNow();
    this.drawStatus(now.running);
    this.redraw();
  }

  /**
   * Show states, settings and alerts where no runs are told of.
   * @param {Alone} told
   */
  alone({ now, settings, alerts, rule }) {
    this.root.classList.add("its-alone");
    this.look.hidden = false;
    this.drawSettings(settings);
    this.drawNow(now);
    fill(this.status, [rule]);
    this.alerts.hidden = !alerts.length;
    const list = alerts.map(([alert, instead]) => h("li", null, span("its-warn", "▲ "), `${alert} – ${instead}`));
    fill(this.alerts, [h("p", null, "Ran in a block that only warns, and may not repeat:"), h("ul", null, ...list)]);
  }

  /** @param {Ran} ran */
  ran({ place, row, columns, now, words }) {
    this.shelf.total = Math.max(this.shelf.total, place + 1);
    this.shelf.put([[place, row]]);
    for (const each of this.now?.now ?? []) {
      const moved = now[each.name];
      if (moved) [each.chip, each.by, each.where] = [...moved, "…"];
    }
    this.setColumns(columns);
    this.drawNow();
    this.drawStatus(false);
    fill(this.news, [words]);
    if (this.filtered) this.search(this.left > 0 ? 0 : place);
    else if (this.shelf.found && !row.aside) this.shelf.list([place]);
    this.redraw();
    this.soon();
  }

  /** Ask for details, once it is quiet and this view is in sight. */
  soon() {
    this.stale = true;
    clearTimeout(this.timer);
    if (this.seen) this.timer = setTimeout(() => this.ask({ ask: "now" }), QUIET);
  }

  /** @param {string} text */
  gone(text) {
    clearTimeout(this.waiting);
    clearTimeout(this.timer);
    this.root.classList.add("its-gone");
    this.closeForm();
    this.tell("");
    this.drawNote(`Disconnected. ${text} To go on: %load_ext ipytorchseed, then %rng.`);
  }

  /** @param {string} text */
  drawNote(text) {
    this.note.hidden = !text;
    fill(this.note, [text && `▲ ${text}`]);
    this.lockActs();
  }

  lockActs() {
    const gone = this.root.classList.contains("its-gone");
    for (const each of this.root.querySelectorAll(".its-act")) each.toggleAttribute("disabled", gone);
  }

  /** @param {boolean} running */
  drawStatus(running) {
    const runs = `${write(this.shelf.total)} runs`;
    const busy = running && "a cell is running: this is from before it";
    fill(this.status, [[runs, busy, this.now?.rule].filter(Boolean).join(" · ")]);
  }

  bar() {
    const opener = (kind = "", text = "") =>
      act(text, (event) => this.openForm(kind, event), { "aria-expanded": "false" });
    const openers = [opener("reseed", "Reseed…"), opener("save", "Save…"), opener("restore", "Restore…")];
    return h("div", { class: "its-bar" }, span("its-head", "Randomness"), this.status, span("its-buttons", ...openers, this.look));
  }

  /** @param {Standing[]} [rows] */
  drawNow(rows = this.now?.now ?? []) {
    const cards = rows.map((each) => {
      const title = h("span", { title: each.type || each.name }, each.name);
      const where = each.by ? `${each.where} · ${each.by}` : each.where;
      const lines = [h("p", { class: "its-name" }, title, chip(each.chip)), h("p", { class: "its-dim" }, where)];
      return h("div", { role: "listitem" }, ...lines);
    });
    fill(this.cards, cards);
  }

  /** @param {Settings} settings */
  drawSettings({ ok, brief, right, risks, groups }) {
    const mark = ok ? groups.length && span("its-ok", "✓ ") : span("its-warn", "▲ ");
    const list = risks.map(([risk, how, command]) =>
      h("li", null, span("its-warn", "▲ "), `${risk} – ${how}`, command && this.command(command)),
    );
    const tables = groups.map(({ title, rows }) =>
      table(
        [title, "Now", "Needed", "Change"],
        rows.map(({ mark, name, value, wanted, change, why }) => {
          const about = span("its-dim its-reason", why);
          return [span("", `${mark} `, h("code", null, ...breakable(name)), about), value, wanted, change];
        }),
      ),
    );
    const wide = { class: "its-wide", tabindex: "0", role: "group", "aria-label": "Settings" };
    fill(this.settings, [
      h("summary", null, mark, brief, span("its-dim", right)),
      list.length && h("ul", null, ...list),
      tables.length && h("div", wide, ...tables),
    ]);
  }

  /**
   * A command, and what to do with it.
   * @param {string} text
   * @param {...Child} more
   */
  command(text, ...more) {
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(text);
        this.tell(`Copied: ${text}`);
      } catch {
        this.tell(`The browser does not allow to copy; it is: ${text}`, "its-warn");
      }
    };
    return span("its-command", h("code", null, text), button("Copy", copy, { "aria-label": `Copy ${text}` }), ...more);
  }

  get filtered() {
    return Boolean(this.filter.text || this.filter.source || this.filter.changed);
  }

  filters() {
    const props = { type: "search", placeholder: "Cell or run", "aria-label": "Cell or run" };
    const text = h("input", props);
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
    const box = { class: "its-filter", role: "search", "aria-label": "Runs to show" };
    const looks = { title: "Also those that only looked, as %why, or could not be parsed" };
    return h(
      "div",
      box,
      text,
      this.sources,
      h("label", null, changed, " Only runs that differ"),
      h("label", looks, all, " All runs"),
      this.count,
    );
  }

  /** @param {number} low Where to search from: what was found before it stays. */
  search(low = 0) {
    this.round += 1;
    this.low = low;
    this.left = 0;
    this.added = 0;
    this.searching = false;
    if (this.filter.all && !this.filtered) this.shelf.found = null;
    else {
      if (!low) this.shelf.found = [];
      this.atEnd ||= !low;
      this.left = this.shelf.total - low;
      this.find();
    }
    this.redraw();
  }

  /** Search on. */
  find() {
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
    fill(this.sources, [
      h("option", { value: "" }, "Every source"),
      ...columns.map((name) => h("option", { value: name, selected: name === source }, name)),
    ]);
  }

  redraw() {
    this.frame ||= requestAnimationFrame(() => this.drawRows());
  }

  drawRows() {
    this.frame = 0;
    const { shelf, scroll } = this;
    const { count, total } = shelf;
    scroll.hidden = !total;
    const height = scroll.clientHeight || 360;
    const held = scroll.scrollTop + this.added * ROW; // what is in sight stays there
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
    this.find();
    for (const place of this.drawn.keys()) if (this.drawn.size > KEPT) this.drawn.delete(place);
    const missing = shelf.missing(first, end);
    if (missing.length) this.ask({ ask: "rows", places: missing });
    const none = this.now && !total && "No run is recorded yet.";
    const shown = this.filtered ? `${write(count)} of ${write(total)}` : none;
    fill(this.count, [shown, this.left > 0 && " searching…"]);
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
      const picked = row.id === this.chosen || row.id === this.against;
      tr.classList.toggle("its-picked", picked);
      tr.classList.toggle("its-kin", row.kin === this.kin);
      const pick = tr.querySelector("button");
      pick?.setAttribute("aria-pressed", String(picked));
      pick?.setAttribute("tabindex", row.id === this.active ? "0" : "-1");
    }
    return tr;
  }

  /** @param {Row | null | undefined} row Null where it is no longer kept, undefined before it comes. */
  drawRow(row) {
    if (!row) {
      const text = row === null ? "no longer kept" : "…";
      const wide = { class: "its-dim", colspan: this.columns.length + 4 };
      return h("tr", { class: "its-row" }, h("td", wide, text));
    }
    const { id, name, cell, rail, status, value, outcome, at, took, fields } = row;
    const look = outcome?.[0] ? "its-dim its-outcome" : "its-warn its-outcome";
    const code = h("code", { title: cell }, cell);
    return h(
      "tr",
      { class: "its-row", "data-run": id },
      h("th", { scope: "row" }, button(name, null, { class: "its-pick" })),
      h("td", { class: "its-cell" }, h("span", { class: "its-rail", style: `--r:${rail}` }), code),
      h(
        "td",
        null,
        status !== "ok" && span("its-warn", `▲ ${status} `),
        value && span("its-value", value),
        outcome && h("span", { class: look, title: outcome[2] }, outcome[1]),
      ),
      ...this.columns.map((each) => h("td", null, fieldOf(fields[each]))),
      h("td", { class: "its-dim", title: at }, took),
    );
  }

  /**
   * @param {number} id
   * @param {boolean} second Whether to compare it with the one that was chosen before.
   */
  choose(id, second) {
    this.comparing = false;
    this.active = id;
    const two = second && this.chosen && id !== this.chosen;
    this.against = two ? Math.min(id, this.chosen) : 0;
    this.chosen = two ? Math.max(id, this.chosen) : id;
    this.kin = this.shelf.find(this.chosen)?.kin;
    this.ask({ ask: "why", run: this.chosen, against: this.against || null });
    this.redraw();
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
    this.drawRows();
    const tr = this.body.querySelector(`[aria-rowindex="${index + 2}"]`);
    tr?.querySelector("button")?.focus({ preventScroll: true });
  }

  /** @param {Why | null} said */
  drawWhy(said) {
    if (!said) {
      const hint = "Choose a run to see why it gave another result than the time before.";
      fill(this.why, [h("p", { class: "its-dim" }, hint)]);
      return;
    }
    const { run, against, names, title, roots, causes, keep, reason, back, mend, next, changed, more, cleared, begun } = said;
    const compare = button(
      "Compare with…",
      () => {
        this.comparing = !this.comparing;
        compare.setAttribute("aria-pressed", String(this.comparing));
        this.tell(this.comparing ? `Now choose the run to compare ${names[1]} with.` : "");
      },
      { "aria-pressed": "false", title: "Or hold Shift while choosing it" },
    );
    const rewind = (to = 0, name = "", text = "") =>
      act(text, (event) => this.act({ what: "rewind", run: to }, event), {
        title: `Put every source back where it stood when ${name} began`,
      });
    const buttons = span("its-buttons", rewind(run, names[1], `Rewind to ${names[1]}`), compare);
    const replay = () =>
      act(`Replay ${names[0]}`, (event) => this.act({ what: "replay", run: against }, event), {
        title: `Run again what leads to the result of ${names[0]}, and check it bit for bit`,
      });
    const lines = mend.map((line) => h("p", null, this.command(line, replay())));
    const code = (/** @type {[string, string]} */ [name, text]) => [h("code", null, name), text];
    const state = (/** @type {Chip} */ it) => (it ? chip(it) : "not there");
    const sides = against ? names : names.slice(1);
    fill(this.why, [
      h("div", { class: "its-bar" }, h("span", { class: "its-head" }, ...coded(title)), buttons),
      ...roots.map(([message, path]) =>
        h("div", { class: "its-cause" }, h("p", null, span("its-warn", "◆ "), ...coded(message)), path && h("p", { class: "its-dim" }, path)),
      ),
      ...causes.map((cause) => drawCause(cause, names)),
      reason && h("p", { class: "its-dim" }, ...coded(reason)),
      back && h("div", { class: "its-mend" }, back, ...lines),
      keep.length && h("div", { class: "its-mend" }, ...keep.map((line, place) => (place ? h("p", null, ...coded(line.includes("`") ? line : `\`${line}\``)) : line))),
      next && h("p", null, next),
      changed.length && table(["Changed", "How"], changed.map(code)),
      more && h("p", { class: "its-dim" }, `and ${more} more`),
      ...said.curves.map(drawCurves),
      folded("Not the cause", String(cleared.length), cleared.map(code)),
      folded(
        "Where each source stood",
        `when ${sides.join(" and ")} began`,
        begun.map(([name, before, after]) => [name, against && state(before), state(after)].filter((each) => each !== null)),
        ["Source", ...sides],
      ),
    ]);
    this.lockActs();
    fill(this.news, [[title, ...roots.map(([message]) => message), ...causes.map((each) => each.message)].join(". ")]);
  }

  /**
   * @param {Wish} wish
   * @param {Event} [event]
   */
  act(wish, event) {
    if (event?.currentTarget instanceof HTMLElement) this.origin = event.currentTarget;
    this.ask({ ask: "do", last: this.shelf.last, ...wish });
  }

  /** @param {{ok: boolean, text: string, undo?: Wish | null}} message */
  done({ ok, text, undo }) {
    if (ok) this.closeForm();
    const back = undo && act("Undo", (event) => this.act(undo, event));
    this.tell(text, ok ? "its-ok" : "its-warn", back);
    if (!ok && !this.form.hidden) this.form.querySelector("input")?.focus();
  }

  /**
   * @param {string} question
   * @param {Wish} wish
   */
  confirm(question, wish) {
    const yes = act("Yes", () => this.act(wish));
    const no = button("No", () => this.tell("Nothing was done."));
    this.tell(question, "its-warn", yes, no);
    no.focus();
  }

  /**
   * Say how something went; focus that would be lost goes back to where it came from.
   * @param {string} text
   * @param {string} [mark] A class.
   * @param {...Child} more
   */
  tell(text, mark, ...more) {
    const held = this.told.contains(document.activeElement);
    const sign = mark && span(mark, mark === "its-ok" ? "✓ " : "▲ ");
    this.told.hidden = !text;
    fill(this.told, [span("its-text", sign, text), ...more]);
    if (held) this.origin?.focus();
  }

  /**
   * @param {string} kind
   * @param {Event} event
   */
  openForm(kind, event) {
    const opener = /** @type {HTMLElement} */ (event.currentTarget);
    const open = opener.getAttribute("aria-expanded") === "true";
    this.closeForm();
    if (open) return;
    this.origin = opener;
    opener.setAttribute("aria-expanded", "true");
    const input = (name = "", props = {}) =>
      h("input", { name, autocomplete: "off", size: 14, required: true, ...props });
    const go = act(opener.innerText.slice(0, -1), null, { type: "submit" });
    const saves = this.now?.saves ?? [];
    if (kind === "reseed") {
      const both = h("input", { type: "checkbox", name: "generators" });
      const seed = input("seed", { inputmode: "numeric", value: this.now?.seed ?? "" });
      const fresh = act("Fresh seed", () => this.act({ what: "new" }));
      fill(this.form, [h("label", null, "Seed ", seed), h("label", null, both, " generators too"), go, fresh]);
    } else if (kind === "save") {
      fill(this.form, [h("label", null, "Name ", input("name")), go]);
    } else if (saves.length) {
      const names = h("select", { name: "name" }, ...saves.map((each) => h("option", null, each)));
      fill(this.form, [h("label", null, "Saved ", names), go]);
    } else fill(this.form, [span("its-dim", "Nothing is saved yet.")]);
    this.form.hidden = false;
    this.form.onsubmit = (submitted) => {
      submitted.preventDefault();
      this.act({ ...Object.fromEntries(new FormData(this.form)), what: kind });
    };
    const first = this.form.querySelector("input, select");
    if (first instanceof HTMLElement) first.focus();
    if (first instanceof HTMLInputElement) first.select();
  }

  closeForm() {
    const held = this.form.contains(document.activeElement);
    this.form.hidden = true;
    for (const each of this.root.querySelectorAll("[aria-expanded]")) each.setAttribute("aria-expanded", "false");
    if (held) this.origin?.focus();
  }
}

/** @param {string} text What is in backticks becomes code. */
const coded = (text) => text.split("`").map((part, place) => (place % 2 ? h("code", null, part) : part));

/** @param {Event} event */
const trOf = (event) => /** @type {HTMLElement} */ (event.target).closest("tr");

/** @param {Event} event */
const runOf = (event) => Number(trOf(event)?.dataset.run);

/**
 * @param {Cause} cause
 * @param {[string, string]} names
 */
function drawCause({ kind, page, message, proof, finding, chips: [before, after] }, names) {
  const name = (at = 0) => span("its-dim", `${names[at]} `);
  const states = before && after && [name(0), chip(before), span("its-dim its-not", "≠"), name(1), chip(after)];
  const text = kind === "code" && h("pre", null, proof);
  const more = h("a", { href: page, target: "_blank", rel: "noopener" }, kind);
  return h(
    "div",
    { class: "its-cause" },
    h("p", null, span("its-warn", "▲ "), ...coded(message), span("its-dim", " · ", more)),
    states ? h("p", null, ...states) : text,
    finding && h("p", { class: "its-dim" }, ...coded(finding)),
  );
}

export default {
  /** @param {{model: Model, el: HTMLElement}} context */
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.close();
  },
};
