// The inspector's view. It draws what the kernel sends, and asks for rows when they become visible.
// It has no logic about runs. The types are in model.d.ts.

import { Answer, Card } from "./answer.js";
import { act, breakable, button, chip, fill, h, span, table, write } from "./elements.js";
import { Timeline } from "./timeline.js";

/** @import {Alone, Child, Done, Model, Now, Said, Settings, Standing, Why, Wish} from "./model" */

const QUIET = 250; // milliseconds without a run before the kernel is asked for details

/** One view of the inspector; a notebook may show several. */
class Inspector extends Answer {
  /** @param {Model} model @param {HTMLElement} el */
  constructor(model, el) {
    super(model, el);
    /** @type {Now | null} */ this.now = null;
    this.chosen = 0; // a run's number in the ledger, like `against`
    this.against = 0;
    this.comparing = false;
    this.stale = false;
    this.seen = true;
    this.timer = 0;
    this.status = span("its-dim its-status");
    this.note = h("p", { class: "its-note its-warn", hidden: true });
    this.news = h("div", { class: "its-sr", role: "log" });
    this.form = h("form", { class: "its-form its-spot", hidden: true });
    this.cards = h("div", { class: "its-now", role: "list", "aria-label": "Where sources stand" });
    this.settings = h("details", { class: "its-settings" });
    this.alerts = h("div", { hidden: true });
    this.look = button("Look again", () => this.ask({ ask: "open" }), { hidden: true });
    this.timeline = new Timeline((question) => this.ask(question), (id, second) => this.choose(id, second || this.comparing));
    const legend = "Equal chips are equal states · a ring: began in another state than the cell’s run before · ";
    const hint = "Choose a run to see why its result differs from the run before.";
    fill(this.why, [h("p", { class: "its-dim" }, hint)]);
    const { bar, scroll } = this.timeline;
    const key = h("p", { class: "its-legend its-dim" }, legend, span("its-warn", "↯"), " moved between runs");
    const parts = [this.bar(), this.note, this.form, this.cards, this.settings, this.alerts, bar, scroll, key];
    fill(this.root, [...parts, this.why, this.news]);
    this.root.onkeydown = (event) => {
      if (event.key === "Escape") this.closeForm();
      // JupyterLab prevents Enter from submitting the form.
      if (event.key === "Enter" && event.target instanceof HTMLInputElement && event.target.form) {
        event.preventDefault();
        this.form.requestSubmit();
      }
    };
    this.watch = new IntersectionObserver((entries) => {
      this.seen = entries[entries.length - 1].isIntersecting;
      if (this.seen && this.stale) this.soon();
      this.timeline.redraw();
    });
    this.watch.observe(this.root);
    const told = model.get("told"); // set outside IPython: the page may be read without a kernel
    if (told) this.alone(told);
    else this.ask({ ask: "open" });
  }

  close() {
    super.close();
    this.watch.disconnect();
    clearTimeout(this.timer);
    cancelAnimationFrame(this.timeline.frame);
  }

  late() {
    if (this.now) this.drawStatus(true);
    else this.drawNote("Waiting for the kernel. If it has ended, run `%rng` again.");
  }

  /** @param {Said} said */
  heard(said) {
    super.heard(said);
    if (said.say === "all") {
      this.root.classList.add("its-live");
      this.root.classList.remove("its-gone");
      this.drawNote("");
      this.timeline.begin(said.rows);
    }
    if (said.say === "all" || said.say === "now") this.update(said);
    if (said.say === "all") this.timeline.search();
    if (said.say === "run") this.moved(said);
    if (said.say === "moved") this.soon();
    if (said.say === "rows") this.timeline.rows(said.rows, said.columns);
    if (said.say === "found") this.timeline.found(said);
    if (said.say === "back") this.ask({ ask: "open" });
    if (said.say === "alone") this.alone(said);
  }

  /** @param {Now} now */
  update(now) {
    this.stale = false;
    if (JSON.stringify(now.settings) !== JSON.stringify(this.now?.settings)) this.drawSettings(now.settings);
    this.now = now;
    this.timeline.shelf.total = Math.max(now.total, this.timeline.shelf.total);
    this.timeline.setColumns(now.columns);
    this.drawNow();
    this.drawStatus(now.running);
    this.timeline.redraw();
  }

  /** Show states, settings and alerts, without runs. @param {Alone} told */
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

  /** @param {Extract<Said, {say: "run"}>} ran */
  moved(ran) {
    for (const each of this.now?.now ?? []) {
      const field = ran.row.fields[each.name];
      if (field?.to) [each.chip, each.by, each.where] = [field.to, ran.row.name, "…"];
      else if (field?.between) [each.chip, each.by, each.where] = [field.from, `before ${ran.row.name}`, "…"];
    }
    this.timeline.ran(ran);
    this.drawNow();
    this.drawStatus(false);
    this.news.textContent = ran.words;
    this.soon();
  }

  /** Ask for details once no cell runs and this view is visible. */
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
    this.told.hidden = true;
    this.drawNote(`Disconnected. ${text} To go on: \`%load_ext ipytorchseed\`, then \`%rng\`.`);
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
    const runs = `${write(this.timeline.shelf.total)} runs`;
    const busy = running && "a cell is running: these states are from before it";
    fill(this.status, [[runs, busy, this.now?.rule].filter(Boolean).join(" · ")]);
  }

  bar() {
    const openers = ["Reseed…", "Save…", "Restore…"].map((text) =>
      act(text, (event) => this.openForm(text.slice(0, -1).toLowerCase(), event), { "aria-expanded": "false" }),
    );
    const buttons = span("its-buttons", ...openers, this.look);
    return h("div", { class: "its-bar its-spot" }, span("its-head", "Randomness"), this.status, buttons);
  }

  /** @param {Standing[]} [rows] */
  drawNow(rows = this.now?.now ?? []) {
    const cards = rows.map(({ name, type, chip: state, where, by }) => {
      const title = h("p", { class: "its-name" }, h("span", { title: type || name }, name), chip(state));
      return h("div", { role: "listitem" }, title, h("p", { class: "its-dim" }, by ? `${where} · ${by}` : where));
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
    const title = h("summary", null, mark, brief, span("its-dim", right));
    fill(this.settings, [title, list.length && h("ul", null, ...list), tables.length && h("div", wide, ...tables)]);
  }

  /** @param {number} id @param {boolean} second Whether to compare it with the one that was chosen before. */
  choose(id, second) {
    this.comparing = false;
    const two = second && this.chosen && id !== this.chosen;
    this.against = two ? Math.min(id, this.chosen) : 0;
    this.chosen = two ? Math.max(id, this.chosen) : id;
    this.timeline.active = id;
    this.timeline.picked = [this.chosen, this.against];
    this.below.hidden = true;
    this.ask({ ask: "why", run: this.chosen, against: this.against || null });
    this.timeline.redraw();
  }

  /** @param {Why} said */
  draw(said) {
    super.draw(said);
    this.lockActs();
    this.news.textContent = [said.title, ...said.answer.map((each) => each.message)].join(". ");
  }

  /** @param {Why} said */
  buttons({ run, names: [, name], name: asked }) {
    const toggle = () => {
      this.comparing = !this.comparing;
      this.origin = compare;
      compare.setAttribute("aria-pressed", String(this.comparing));
      this.tell(this.comparing ? `Now choose the run to compare ${name} with.` : "");
    };
    const compare = button("Compare with…", toggle, { "aria-pressed": "false", title: "Or hold Shift while choosing it" });
    const about = { title: `Put every source back where it stood when ${name} began` };
    const rewind = act(`Rewind to ${name}`, (event) => this.act({ what: "rewind", run }, event), about);
    return asked ? [rewind] : [rewind, compare];
  }

  /** @param {Wish} wish @param {Event} [event] */
  act(wish, event) {
    this.timeline.atEnd = true; // the new row will be there
    super.act({ last: this.timeline.shelf.last, ...wish }, event);
  }

  /** @param {Done} done */
  done(done) {
    if (done.ok) this.closeForm();
    super.done(done);
    if (done.refresh) this.ask({ ask: "why", run: this.chosen, against: this.against || null });
    if (!done.ok && !this.form.hidden) this.form.querySelector("input")?.focus();
  }

  /** @param {string} kind @param {Event} event */
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
    const labelled = (/** @type {Child[]} */ ...children) => h("label", null, ...children);
    const both = h("input", { type: "checkbox", name: "generators" });
    const seed = input("seed", { inputmode: "numeric", value: this.now?.seed ?? "" });
    const fresh = act("Fresh seed", () => this.act({ what: "new" }));
    const names = h("select", { name: "name" }, ...saves.map((each) => h("option", null, each)));
    const none = [span("its-dim", "Nothing is saved yet.")];
    const restore = saves.length ? [labelled("Saved ", names), go] : none;
    const reseed = [labelled("Seed ", seed), labelled(both, " generators too"), go, fresh];
    fill(this.form, kind === "reseed" ? reseed : kind === "save" ? [labelled("Name ", input("name")), go] : restore);
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
    for (const each of this.root.querySelectorAll(".its-bar [aria-expanded]")) each.setAttribute("aria-expanded", "false");
    if (held) this.origin?.focus();
  }
}

/** Return the static copy above a view, which says what the view shows. @param {HTMLElement} el */
function copyAbove(el) {
  for (let it = el.parentElement; it; it = it.parentElement) {
    const above = [...it.querySelectorAll(".its-static")].filter(
      (each) => each.compareDocumentPosition(el) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
    if (above.length) return /** @type {HTMLElement} */ (above[above.length - 1]);
  }
  return null;
}

export default {
  /** @param {{model: Model, el: HTMLElement}} context */
  render({ model, el }) {
    /** @type {Answer | null} */ let view = null;
    let frame = 0;
    const begin = () => {
      if (!el.isConnected && !model.get("told")) {
        frame = requestAnimationFrame(begin);
        return;
      }
      const copy = copyAbove(el);
      view = copy?.dataset.run ? new Card(model, el, copy) : new Inspector(model, el);
    };
    begin();
    return () => {
      cancelAnimationFrame(frame);
      view?.close();
    };
  },
};
