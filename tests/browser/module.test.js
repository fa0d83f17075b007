// The logic of the inspector's module, without a browser: which rows to draw and to request.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Shelf, inSight } from "../../ipytorchseed/inspector/static/shelf.js";

/** @param {number} id */
const row = (id) => /** @type {any} */ ({ id, name: `In[${id}]` });

test("only rows in sight are drawn, and some around them", () => {
  const [first, end] = inSight(5000 * 31, 310, 10_000);
  assert.ok(first < 5000 && first > 4980);
  assert.ok(end > 5010 && end < 5030);
});

test("a short list is drawn as a whole", () => {
  assert.deepEqual(inSight(0, 400, 3), [0, 3]);
});

test("nothing is drawn of nothing", () => {
  assert.deepEqual(inSight(0, 400, 0), [0, 0]);
});

test("a list that has shrunk below where it was scrolled to shows its end", () => {
  const [first, end] = inSight(100_000, 400, 5);
  assert.deepEqual([first, end], [0, 5]);
});

test("rows are asked for once", () => {
  const shelf = new Shelf();
  shelf.total = 10;
  shelf.put([[8, row(9)], [9, row(10)]]);
  assert.deepEqual(shelf.missing(5, 10), [5, 6, 7]);
  assert.deepEqual(shelf.missing(4, 10), [4]);
  shelf.put([[5, row(6)]]);
  assert.deepEqual(shelf.missing(5, 10), []);
});

test("a row that is no longer kept is not asked for again", () => {
  const shelf = new Shelf();
  shelf.total = 1;
  shelf.put([[0, null]]);
  assert.deepEqual(shelf.missing(0, 1), []);
});

test("not too many rows are asked for at a time", () => {
  const shelf = new Shelf();
  shelf.total = 10_000;
  assert.equal(shelf.missing(0, 10_000).length, 300);
  assert.equal(shelf.missing(0, 10_000)[0], 300);
});

test("a filter lists the places that it lets through, older ones before", () => {
  const shelf = new Shelf();
  shelf.total = 100;
  shelf.found = [];
  shelf.list([90, 95]);
  shelf.list([10, 20]);
  shelf.list([99]);
  shelf.list([99]);
  shelf.list([]);
  assert.deepEqual(shelf.found, [10, 20, 90, 95, 99]);
  assert.deepEqual([shelf.count, shelf.place(2)], [5, 90]);
  assert.deepEqual(shelf.missing(1, 3), [20, 90]);
});

test("the newest run and runs by their numbers are found", () => {
  const shelf = new Shelf();
  assert.equal(shelf.last, 0);
  shelf.put([[0, row(7)], [2, row(12)], [1, null]]);
  assert.equal(shelf.last, 12);
  assert.equal(shelf.find(7)?.name, "In[7]");
  assert.equal(shelf.find(8), null);
});
