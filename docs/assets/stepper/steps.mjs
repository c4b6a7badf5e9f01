// The steps of a recorded run, without a page: which are shown, which is next, and the state after each. stepper.mjs draws them.
// A step is {words, lanes: [numbers], at, source?: [path, line, text], changes?: [[name, value]]}: kafka_learn/drawing/run_steps.py.

const ACTIONS = new Map([
  [" ", "play"], ["ArrowRight", "next"], ["ArrowDown", "next"], ["ArrowLeft", "previous"], ["ArrowUp", "previous"], ["Home", "first"],
  ["End", "last"], ["Escape", "whole"],
]);

/** Before the first step: the whole figure is shown, as without a script. */
export const WHOLE = -1;

/** The numbers of the steps of which no lane is hidden. `hidden` is a Set of numbers of lanes. */
export function shownSteps(steps, hidden) {
  return steps.flatMap((step, number) => (step.lanes.some(lane => hidden.has(lane)) ? [] : [number]));
}

/** The first shown step after `now`; `now` itself if it is the last. */
export function next(shown, now) {
  return shown.find(number => number > now) ?? now;
}

/** The last shown step before `now`; WHOLE before the first. */
export function previous(shown, now) {
  return shown.findLast(number => number < now) ?? WHOLE;
}

/** The shown step at a place of the slider, which counts from 1; 0 is WHOLE. */
export function stepAt(shown, place) {
  return place > 0 ? shown[Math.min(place, shown.length) - 1] ?? WHOLE : WHOLE;
}

/** The slider's place of a step: how many shown steps there are up to it. */
export function placeOf(shown, now) {
  return shown.filter(number => number <= now).length;
}

/** What has changed up to the step `now` with its value then, in the order of the first change; `isNew` if this step changed it. */
export function stateAt(steps, now) {
  const state = new Map();
  for (let number = 0; number <= now; number++)
    for (const [name, value] of steps[number].changes ?? []) state.set(name, { name, value, isNew: number === now });
  return [...state.values()];
}

/** What a key does: "play", "next", "previous", "first", "last", "whole", or null if it is none of the stepper's. */
export function actionOf(key) {
  return ACTIONS.get(key) ?? null;
}
