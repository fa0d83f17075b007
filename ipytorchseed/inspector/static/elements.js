// Elements of the page. Every text is set as text: nothing from a notebook is parsed as HTML. Text
// in backticks becomes code, and In[7] gets a separate element.

/** @import {Chip, Child, Curves, Field, Props} from "./model" */

/**
 * Make an element. Properties that begin with "on" are listeners. Empty children are skipped.
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

/** Replace the children of an element. @param {Element} element @param {Child[]} children */
export function fill(element, children) {
  const plain = element.matches("button, code, option, pre");
  element.replaceChildren(...children.flatMap((each) => (typeof each === "string" && !plain ? coded(each) : each || [])));
}

/** @param {string} text @returns {(Node | string)[]} */
const coded = (text) =>
  text.split("`").flatMap((part, place) => (place % 2 ? h("code", null, part) : part.split(/(In\[\d+\])(?! before)/).map(named)));

/** @param {string} text @param {number} place */
function named(text, place) {
  const name = document.createElement("span");
  name.className = "its-run";
  name.textContent = text;
  return place % 2 ? name : text;
}

/**
 * Replace the children of an element without moving those that stay, so that no press is lost.
 * @param {Element} element
 * @param {Element[]} children
 */
export function keep(element, children) {
  const kept = new Set(children);
  for (const each of [...element.children]) if (!kept.has(each)) each.remove();
  let at = element.firstElementChild;
  for (const each of children) {
    if (each === at) at = at.nextElementSibling;
    else element.insertBefore(each, at);
  }
}

/** @param {string} look A class. @param {...Child} children */
export const span = (look, ...children) => h("span", { class: look }, ...children);

/** @param {string} text @param {((event: Event) => void) | null} onclick @param {Props} [props] */
export const button = (text, onclick, props) => h("button", { type: "button", onclick, ...props }, text);

/** @type {typeof button} A button that is useless without a kernel. */
export const act = (text, onclick, props) => button(text, onclick, { class: "its-act", ...props });

/** @param {number} count */
export const write = (count) => count.toLocaleString("en");

/** @param {Chip} it @param {boolean} [other] */
export function chip(it, other) {
  if (!it) return span("its-dim", "unknown");
  const [code, hue, digest] = it;
  const title = other ? `${digest}: another state than in the cell's run before` : digest;
  const look = { class: other ? "its-chip its-other" : "its-chip", style: `--h:${hue}`, title };
  return h("span", look, code, other && span("its-sr", " started from another state"));
}

/** @param {Field | undefined} field */
export function fieldOf(field) {
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
export function drawCurves({ name, box, paths }) {
  const says = `${name}: then (solid), now (dashed), their difference below`;
  const make = (tag = "", /** @type {Props} */ props) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in props) made.setAttribute(name, props[name]);
    return made;
  };
  const svg = make("svg", { viewBox: `0 0 ${box.join(" ")}`, width: box[0], fill: "none", role: "img", "aria-label": says });
  paths.forEach((d, index) => svg.append(make("path", { d, class: ["its-then", "its-later", "its-apart"][index] })));
  return h("figure", null, svg, h("figcaption", { class: "its-dim" }, says));
}

/** A name whose line may end after any dot or underscore. @param {string} name */
export const breakable = (name) => name.split(/(?<=[._])/).flatMap((part) => [part, h("wbr")]);

/** @param {string[]} titles @param {Child[][]} rows */
export function table(titles, rows) {
  const heads = titles.map((title) => h("th", { scope: "col" }, title));
  const body = rows.map(([first, ...rest]) =>
    h("tr", null, h("th", { scope: "row" }, first), ...rest.map((each) => h("td", null, each))),
  );
  return h("table", { class: rows[0]?.length === 2 && "its-pairs" }, titles.length && h("thead", null, h("tr", null, ...heads)), h("tbody", null, ...body));
}

/** @param {string} title @param {string} more @param {Child[][]} rows @param {string[]} [titles] */
export function folded(title, more, rows, titles = []) {
  if (!rows.length) return null;
  return h("details", null, h("summary", null, title, span("its-dim", more)), table(titles, rows));
}
