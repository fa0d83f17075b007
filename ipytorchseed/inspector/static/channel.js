// The channel to the kernel, and the messages about actions. A view asks, and draws the answers.

import { act, button, fill, h, span } from "./elements.js";

/** @import {Child, Done, Model, Props, Said, Wish} from "./model" */

const PATIENCE = 5000; // milliseconds to wait for an answer before the view reports it

export class Channel {
  /** @param {Model} model @param {HTMLElement} el */
  constructor(model, el) {
    this.model = model;
    this.token = Math.random().toString(36).slice(2); // identifies the view that an answer is for
    this.waiting = 0;
    /** @type {HTMLElement | null} The element that gets the focus back. */ this.origin = null;
    this.told = h("div", { class: "its-told", role: "status", hidden: true });
    this.root = h("div", { class: "its its-inspector", role: "region", "aria-label": "Randomness" });
    el.append(this.root);
    // Without this mark on the focused element, the notebook handles keys as commands.
    this.root.addEventListener("focusin", ({ target }) => {
      if (target instanceof HTMLElement) target.dataset.lmSuppressShortcuts = "true";
    });
    this.hear = (/** @type {Said} */ said) => {
      if (said.view && said.view !== this.token) return;
      if (said.view) clearTimeout(this.waiting);
      this.heard(said);
    };
    this.lost = () => this.gone("The kernel was restarted or has ended: this is what it told last.");
    model.on("msg:custom", this.hear);
    model.on("comm_live_update", this.lost);
  }

  close() {
    this.model.off("msg:custom", this.hear);
    this.model.off("comm_live_update", this.lost);
    clearTimeout(this.waiting);
  }

  /** @param {Props} question */
  ask(question) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.late(), PATIENCE);
    try {
      this.model.send({ ...question, view: this.token });
    } catch {
      this.lost(); // the front end closed the connection, and reports that later or never
    }
  }

  /** @param {Said} said */
  heard(said) {
    if (said.say === "done") this.done(said);
    if (said.say === "confirm") this.confirm(said.question, said.wish);
    if (said.say === "gone") this.gone(said.text);
    if (said.say === "cell") this.show(said.numbers, said.text);
  }

  late() {}

  /** @param {string} _text Why there will be no more answers. */
  gone(_text) {}

  /**
   * Scroll to a cell by the execution counts that it may show, in front ends that allow it.
   * @param {number[]} numbers
   * @param {string} text The message if no such cell is found.
   */
  show(numbers, text) {
    const wanted = numbers.map((number) => `[${number}]:`);
    const prompts = [...document.querySelectorAll(".jp-InputPrompt")];
    const cell = prompts.find((each) => wanted.includes(each.textContent?.trim() ?? ""))?.closest(".jp-Cell");
    if (!cell) return this.tell(text);
    cell.scrollIntoView({ block: "center" });
    cell.animate([{ background: "color-mix(in srgb, orange 35%, transparent)" }, {}], 1500);
  }

  /** @param {Wish} wish @param {Event} [event] */
  act(wish, event) {
    if (event?.currentTarget instanceof HTMLElement) this.origin = event.currentTarget;
    this.ask({ ask: "do", ...wish });
  }

  /** @param {Done} done */
  done({ ok, text, undo }) {
    const back = undo && act("Undo", () => this.act(undo));
    this.tell(text, ok ? "its-ok" : "its-warn", back);
  }

  /** @param {string} question @param {Wish} wish */
  confirm(question, wish) {
    const no = button("No", () => this.tell("Nothing was done."));
    this.tell(question, "its-warn", act("Yes", () => this.act(wish)), no);
    no.focus();
  }

  /**
   * Show a message below the button, and restore focus that would be lost.
   * @param {string} text
   * @param {string} [mark] A class.
   * @param {...Child} more
   */
  tell(text, mark, ...more) {
    const held = this.told.contains(document.activeElement);
    const sign = mark && span(mark, mark === "its-ok" ? "✓ " : "▲ ");
    this.told.hidden = !text;
    fill(this.told, [span("its-text", sign, text), ...more]);
    const spot = this.root.contains(this.origin) && this.origin?.closest(".its-spot");
    if (!held || !this.told.isConnected) spot ? spot.after(this.told) : this.root.append(this.told);
    this.told.scrollIntoView({ block: "nearest" });
    if (held) this.origin?.focus();
  }

  /** Make a command with its buttons. @param {string} text @param {...Child} more */
  command(text, ...more) {
    const copy = async (/** @type {Event} */ event) => {
      this.origin = /** @type {HTMLElement} */ (event.currentTarget);
      try {
        await navigator.clipboard.writeText(text);
        this.tell(`Copied: \`${text}\``);
      } catch {
        this.tell(`The browser does not allow to copy; it is: \`${text}\``, "its-warn");
      }
    };
    return span("its-command its-spot", h("code", null, text), button("Copy", copy, { "aria-label": `Copy ${text}` }), ...more);
  }
}
