// Rows by their place in the timeline, and which of them to draw and to request.

/** @import {Placed, Row} from "./model" */

export const ROW = 31; // height of a row in pixels, as in the stylesheet
const AHEAD = 12; // rows drawn above and below the visible ones
const MOST = 300; // rows requested at a time

/**
 * Return which rows to draw.
 * @param {number} top How far the list is scrolled, in pixels.
 * @param {number} height The visible height of the list, in pixels.
 * @param {number} count How many rows the list has.
 * @returns {[first: number, end: number]}
 */
export function inSight(top, height, count) {
  const first = Math.max(0, Math.min(Math.floor(top / ROW), count - 1) - AHEAD);
  return [first, Math.min(count, Math.ceil((top + height) / ROW) + AHEAD)];
}

export class Shelf {
  constructor() {
    /** @type {Map<number, Row | null>} */
    this.rows = new Map();
    this.total = 0;
    /** @type {number[] | null} Places that a filter found; null without a filter. */
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

  /** Return the number of the newest known run. */
  get last() {
    return Math.max(0, ...[...this.rows.values()].map((row) => row?.id ?? 0));
  }

  /**
   * Return places of listed rows that were not requested yet, and mark them as requested.
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
   * Add places to the list, in order.
   * @param {number[]} places In ascending order, all before or all after the listed ones.
   */
  list(places) {
    const found = this.found ??= [];
    const fresh = places.filter((place) => !found.includes(place));
    this.found = fresh[0] < found[0] ? [...fresh, ...found] : [...found, ...fresh];
  }
}
