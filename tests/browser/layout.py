"""Measures in a page whether our tables can be read: nothing overlaps or is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

_FAULTS = """(selector) => {
    const faults = [];
    const say = (what, element) =>
        faults.push(`${what}: ${element.textContent.trim().replace(/\\s+/g, " ").slice(0, 80)}`);
    const clips = (element) => getComputedStyle(element).overflowX !== "visible";
    const seen = (rect, element) => {
        let {left, right, top, bottom} = rect;
        for (let it = element; it && it !== document.body; it = it.parentElement) {
            if (!clips(it)) continue;
            const box = it.getBoundingClientRect();
            [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
            [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
        }
        return right - left > 1 && bottom - top > 1 ? {left, right, top, bottom} : null;
    };
    const texts = (element) => {
        const found = [], walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            if (node.data.trim() && !node.parentElement.closest("style")) found.push(node);
        }
        return found;
    };
    const range = document.createRange();
    const roots = [...document.querySelectorAll(selector)].filter((it) => it.checkVisibility());
    if (!roots.length) faults.push("nothing is shown");
    for (const root of roots) {
        root.querySelectorAll("details").forEach((each) => (each.open = true));
        for (const table of root.querySelectorAll("table")) {
            const drawn = [];
            for (const cell of table.querySelectorAll("th, td")) {
                const above = getComputedStyle(cell).position === "sticky";
                if (!/^(left|start|-webkit-left)$/.test(getComputedStyle(cell).textAlign)) {
                    say("not on the left", cell);
                }
                for (const node of texts(cell)) {
                    range.selectNodeContents(node);
                    for (const each of range.getClientRects()) {
                        const rect = seen(each, node.parentElement);
                        if (rect && !above) drawn.push({cell, ...rect});
                    }
                    for (const word of node.data.matchAll(/[A-Za-z0-9]{2,24}/g)) {
                        range.setStart(node, word.index);
                        range.setEnd(node, word.index + word[0].length);
                        const tops = [...range.getClientRects()].map((it) => Math.round(it.top));
                        if (new Set(tops).size > 1) say(`broken inside ${word[0]}`, cell);
                    }
                }
            }
            for (const one of drawn) {
                for (const two of drawn) {
                    if (one.cell === two.cell || one.left > two.left) continue;
                    const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
                    const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
                    if (wide > 1 && high > 3) say(`over "${two.cell.textContent}"`, one.cell);
                }
            }
        }
        const styled = getComputedStyle(root).borderRadius !== "0px";
        for (const code of styled ? root.querySelectorAll(":is(p, li) > code") : []) {
            if (code.getClientRects().length > 1) say("broken", code);
        }
        for (const cell of styled ? root.querySelectorAll("tr > :first-child") : []) {
            const left = cell.getBoundingClientRect().left - root.getBoundingClientRect().left;
            if (left < 10 && !cell.closest(".its-wide, .its-scroll")) say("at the edge", cell);
        }
        for (const each of [root, ...root.querySelectorAll("*")]) {
            const free = /auto|scroll/.test(getComputedStyle(each).overflowX);
            const cut = getComputedStyle(each).textOverflow === "ellipsis";
            if (!free && !cut && each.clientWidth > 1 && each.scrollWidth > each.clientWidth + 1) {
                say(`wider than its place by ${each.scrollWidth - each.clientWidth}`, each);
            }
        }
        for (let it = root.parentElement; it; it = it.parentElement) {
            if (/auto|scroll/.test(getComputedStyle(it).overflowX)
                && it.scrollWidth > it.clientWidth + 1) say("the page is wider than its place", it);
        }
    }
    const page = document.scrollingElement;
    if (page.scrollWidth > innerWidth + 1) faults.push(`a page of ${page.scrollWidth} pixels`);
    return [...new Set(faults)];
}"""


def faults(page: Page, selector: str = ".its") -> list[str]:
    """Unfold all details, and return what cannot be read.

    Args:
        page: The page.
        selector: The selector of the elements to check. Their tables must be aligned to the left,
            words and commands must not be broken, texts must not overlap, and nothing, nor the
            page, may be wider than its place unless it scrolls.
    """
    # Notebook 7 redraws its cells a moment after its window was resized.
    page.locator(selector).filter(visible=True).first.wait_for()
    found: list[str] = page.evaluate(_FAULTS, selector)
    return found
