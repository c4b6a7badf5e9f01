// The live page's logic without a browser: `node --test tests/support/live.test.mjs`; tests/unit/learn/live/test_page_logic.py runs it.

import assert from "node:assert/strict";
import test from "node:test";

import { upTo } from "../../docs/assets/live/elements.mjs";
import { highlighted } from "../../docs/assets/live/python.mjs";

const kinds = (text) => highlighted(text).map((line) => line.filter(([kind]) => kind).map(([kind, part]) => `${kind} ${part}`));

test("the parts of Python have their colours, and nothing is lost", () => {
  const text = "@property\ndef size(self) -> int:  # of all\n    return f\"{self.n}\" if 0x1F else 'a\\'b'\n";
  assert.deepEqual(kinds(text), [
    ["nd @property"], ["k def", "nf size", "c1 # of all"], ["k return", "s f\"{self.n}\"", "k if", "mi 0x1F", "k else", "s 'a\\'b'"], [],
  ]);
  assert.equal(highlighted(text).map((line) => line.map(([, part]) => part).join("")).join("\n"), text);
});

test("a docstring of several lines has its colour in each of them", () => {
  assert.deepEqual(kinds('"""One, with "quotes".\n\nTwo # no comment.\n"""\nx = 1'), [
    ['s """One, with "quotes".'], [], ["s Two # no comment."], ['s """'], ["mi 1"],
  ]);
});

test("words that only contain keywords have none", () => {
  assert.deepEqual(kinds("format_if = is_not or order2"), [["k or"]]);
});

test("a topic can have as many partitions as it has, or more", () => {
  assert.deepEqual(upTo(7, 9), [7, 8, 9]);
  assert.deepEqual(upTo(10, 9), []);
});
