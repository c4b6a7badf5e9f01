// The steps of a recorded run: `node --test tests/support/stepper.test.mjs`; tests/unit/learn/site/test_stepper.py runs it.

import assert from "node:assert/strict";
import test from "node:test";

import { WHOLE, actionOf, next, placeOf, previous, shownSteps, stateAt, stepAt } from "../../docs/assets/stepper/steps.mjs";
import { wordsOf } from "../../docs/assets/stepper/words.mjs";

const STEPS = [
  { words: "producer → Processor: request", lanes: [0, 1], changes: [["request queue", "1"]] },
  { words: "Processor → Log: append", lanes: [1, 2], changes: [["…0000.log", "append: 89 bytes"], ["request queue", "0"]] },
  { words: "Log: roll", lanes: [2] },
  { words: "Processor → producer: response", lanes: [1, 0], changes: [["request queue", "1"]] },
];
const NONE = new Set();

test("a step is hidden with any of its lanes", () => {
  assert.deepEqual(shownSteps(STEPS, NONE), [0, 1, 2, 3]);
  assert.deepEqual(shownSteps(STEPS, new Set([0])), [1, 2]);
  assert.deepEqual(shownSteps(STEPS, new Set([1, 2])), []);
});

test("it goes forward and back over what is hidden, and stays at the ends", () => {
  const shown = shownSteps(STEPS, new Set([2]));
  assert.deepEqual(shown, [0, 3]);
  assert.equal(next(shown, WHOLE), 0);
  assert.equal(next(shown, 0), 3);
  assert.equal(next(shown, 1), 3); // a lane was hidden while one of its steps was shown
  assert.equal(next(shown, 3), 3);
  assert.equal(previous(shown, 3), 0);
  assert.equal(previous(shown, 0), WHOLE);
  assert.equal(next([], WHOLE), WHOLE);
});

test("the slider counts the steps that are shown", () => {
  const shown = [0, 3];
  assert.deepEqual([0, 1, 2, 9].map(place => stepAt(shown, place)), [WHOLE, 0, 3, 3]);
  assert.deepEqual([WHOLE, 0, 2, 3].map(now => placeOf(shown, now)), [0, 1, 1, 2]);
  assert.equal(stepAt([], 1), WHOLE);
  for (const now of shown) assert.equal(stepAt(shown, placeOf(shown, now)), now);
});

test("the state is the last value of each thing, and what this step changed is new", () => {
  assert.deepEqual(stateAt(STEPS, WHOLE), []);
  assert.deepEqual(stateAt(STEPS, 1), [
    { name: "request queue", value: "0", isNew: true },
    { name: "…0000.log", value: "append: 89 bytes", isNew: true },
  ]);
  assert.deepEqual(stateAt(STEPS, 2).map(({ isNew }) => isNew), [false, false]);
  assert.deepEqual(stateAt(STEPS, 3)[0], { name: "request queue", value: "1", isNew: true });
  assert.deepEqual(stateAt(STEPS, 0), [{ name: "request queue", value: "1", isNew: true }]); // and back again
});

test("keys", () => {
  assert.deepEqual([" ", "ArrowRight", "ArrowLeft", "Home", "End", "Escape"].map(actionOf),
    ["play", "next", "previous", "first", "last", "whole"]);
  assert.equal(actionOf("Tab"), null);
  assert.equal(actionOf("constructor"), null);
});

test("every word is there in both languages", () => {
  assert.deepEqual(Object.keys(wordsOf("zh-CN")), Object.keys(wordsOf("en")));
  assert.equal(wordsOf("en").count(2, 9), "2 of 9");
});
