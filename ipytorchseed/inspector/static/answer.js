// The answer of %why with its buttons, in the inspector and below cells.

import { Channel } from "./channel.js";
import { act, button, chip, drawCurves, fill, folded, h, span, table } from "./elements.js";

/** @import {Cause, Model, Root, Said, Why} from "./model" */

export class Answer extends Channel {
  /** @param {Model} model @param {HTMLElement} el */
  constructor(model, el) {
    super(model, el);
    this.why = h("section", { class: "its-why", "aria-label": "Why" });
    this.below = h("section", { class: "its-why", "aria-label": "Why, of a variable", hidden: true });
    const pressed = (/** @type {Event} */ event) => {
      const it = /** @type {HTMLElement} */ (event.target);
      if (event instanceof KeyboardEvent && event.key !== "Enter") return;
      const name = it.textContent ?? "";
      const run = it.matches(".its-why .its-run, .its-told .its-run") && name.slice(3, -1);
      if (!run && !it.matches(".its-name-of")) return;
      this.origin = it;
      this.ask(run ? { ask: "cell", number: run } : { ask: "why", name });
    };
    this.root.addEventListener("click", pressed);
    this.root.addEventListener("keydown", pressed);
  }

  /** @param {Said} said */
  heard(said) {
    if (said.say === "why") this.draw(said);
    else super.heard(said);
  }

  /** @param {Why} said */
  draw(said) {
    const { run, against, names, title, answer, keep, reason, back, mend, next, changed, more, cleared } = said;
    const place = said.name ? this.below : this.why;
    const code = (/** @type {[string, string]} */ [name, text]) => [h("code", null, name), text];
    const prove = said.prove &&
      act("Prove", (event) => this.act({ what: "prove", run, against }, event), { title: "Test each cause: run the cell again on copies" });
    const replay = () =>
      act(`Replay ${names[0]}`, (event) => this.act({ what: "replay", run: against }, event), {
        title: `Run again what leads to the result of ${names[0]}, and check it bit for bit`,
      });
    const kept = (/** @type {string} */ line) => h("p", null, line.includes("`") ? line : this.command(line));
    fill(place, [
      h("div", { class: "its-bar its-spot" }, span("its-head", title), span("its-buttons", prove, ...this.buttons(said))),
      ...answer.map((each) => ("page" in each ? drawCause(each, names) : drawRoot(each))),
      reason && h("p", { class: "its-dim" }, reason),
      back && h("div", { class: "its-mend" }, back, ...mend.map((line) => h("p", null, this.command(line, replay())))),
      keep.length && h("div", { class: "its-mend" }, keep[0], ...keep.slice(1).map(kept)),
      next && h("p", null, next),
      changed.length && table(["Changed", "How"], changed.map(code)),
      more && h("p", { class: "its-dim" }, `and ${more} more`),
      ...said.curves.map(drawCurves),
      folded("Not the cause", String(cleared.length), cleared.map(code)),
    ]);
    place.hidden = false;
    if (said.name) this.root.append(place);
    for (const it of place.querySelectorAll("code, .its-run")) {
      if (it.matches("code") && !said.asks.includes(it.textContent ?? "")) continue;
      if (it.matches("code")) it.classList.add("its-name-of");
      it.setAttribute("role", "button");
      if (!it.closest(".its-head")) it.setAttribute("tabindex", "0"); // its buttons come first
    }
  }

  /** @param {Why} _said @returns {HTMLElement[]} Further buttons beside the title. */
  buttons(_said) {
    return [];
  }
}

/** The live view of an answer, or of the line of `%why on`. It adds buttons to the static copy above. */
export class Card extends Answer {
  /** @param {Model} model @param {HTMLElement} el @param {HTMLElement} copy */
  constructor(model, el, copy) {
    super(model, el);
    const { run, against, line } = copy.dataset;
    const question = { ask: "why", run, against };
    const open = button("Why?", () => {
      const opened = open.getAttribute("aria-expanded") === "true";
      open.setAttribute("aria-expanded", String(!opened));
      if (opened) this.why.hidden = true;
      else this.ask(question);
    }, { "aria-expanded": "false" });
    this.root.classList.add(line ? "its-line" : "its-card");
    this.why.hidden = true;
    fill(this.root, [line && h("p", { class: "its-dim" }, copy.textContent, " ", open), this.why]);
    this.refresh = () => this.ask(question);
    this.root.hidden = true;
    this.ask(line ? { ask: "ready" } : question);
  }

  /** @param {Said} said */
  heard(said) {
    super.heard(said);
    if (!said.view || said.say === "gone") return;
    this.root.hidden = false;
    this.root.classList.add("its-live");
    if (said.say === "done" && said.refresh) this.refresh();
  }

  gone() {
    this.root.hidden = true; // the static copy shows again
    this.root.classList.remove("its-live");
  }
}

/** @param {Root} root */
function drawRoot({ message, path }) {
  return h("div", { class: "its-cause" }, h("p", null, span("its-warn", "◆ "), message), path && h("p", { class: "its-dim" }, path));
}

/** @param {Cause} cause @param {[string, string]} names */
function drawCause({ kind, page, message, proof, finding, chips: [before, after] }, names) {
  const name = (at = 0) => span("its-dim", `${names[at]} `);
  const states = before && after && [name(0), chip(before), span("its-dim its-not", "≠"), name(1), chip(after)];
  const text = proof && kind === "code" && h("pre", null, proof);
  const help = h("a", { href: page, target: "_blank", rel: "noopener", title: `Help: causes of kind ${kind}` }, "help");
  return h(
    "div",
    { class: "its-cause" },
    h("p", null, span("its-warn", "▲ "), message, span("its-dim", " · ", help)),
    states ? h("p", null, ...states) : text,
    finding && h("p", { class: "its-dim" }, finding),
  );
}
