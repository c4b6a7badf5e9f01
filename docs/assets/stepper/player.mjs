// Plays a recorded run in its figure, on the site and in Jupyter: buttons, a slider, the line that runs and the state that changes.
// The figure stays the static one: what comes after the current step is covered. Without this script the page is whole.

import { WHOLE, actionOf, next, placeOf, previous, shownSteps, stateAt, stepAt } from "./steps.mjs";
import { wordsOf } from "./words.mjs";

const STEP_MS = 1400;
const HALF_ROW = 13.5;
const SVG = "http://www.w3.org/2000/svg";

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export class Stepper {
  /** `run` is what kafka_learn/drawing/run_steps.py writes. */
  constructor(figure, run) {
    this.figure = figure;
    this.run = run;
    this.words = wordsOf(figure.closest("[lang]")?.lang ?? "");
    this.heads = figure.querySelector(".recorded-run__heads");
    this.body = figure.querySelector(".recorded-run__body");
    this.drawing = this.body.querySelector("svg");
    this.runsDown = figure.classList.contains("recorded-run--y");
    this.hidden = new Set();
    this.now = WHOLE;
    this.timer = null;
    this.addCover();
    figure.append(this.panel());
    this.body.addEventListener("scroll", () => { if (this.runsDown) this.heads.scrollLeft = this.body.scrollLeft; });
    figure.addEventListener("keydown", event => this.onKey(event));
    this.show();
  }

  addCover() {
    this.cover = document.createElementNS(SVG, "rect");
    this.cover.classList.add("recorded-run__cover");
    this.drawing.append(this.cover);
  }

  button(role, label, act) {
    const made = element("button", { type: "button", title: this.words[role], textContent: label, onclick: act });
    made.setAttribute("aria-label", this.words[role]);
    made.dataset.role = role;
    return made;
  }

  panel() {
    this.playing = this.button("play", "▶", () => this.play());
    this.slider = element("input", { type: "range", min: 0, value: 0, oninput: () => this.go(stepAt(this.shown, +this.slider.value)) });
    this.slider.setAttribute("aria-label", this.words.slider);
    this.slider.dataset.role = "slider";
    this.count = element("output");
    this.said = element("p", { className: "recorded-run__words", textContent: this.words.hint });
    this.said.setAttribute("aria-live", "polite");
    this.line = element("p", { className: "recorded-run__line" });
    this.state = element("dl", { className: "recorded-run__state" });
    const bar = element("div", { className: "recorded-run__bar" },
      this.button("previous", "◀", () => this.go(previous(this.shown, this.now))), this.playing,
      this.button("next", "▶|", () => this.go(next(this.shown, this.now))), this.slider, this.count,
      this.button("whole", "↺", () => this.go(WHOLE)), this.laneChoice());
    const made = element("div", { className: "recorded-run__panel" }, bar, this.said, this.line, this.state);
    made.setAttribute("role", "group");
    made.setAttribute("aria-label", this.words.group);
    return made;
  }

  laneChoice() {
    const boxes = this.run.lanes.map((name, lane) => {
      const box = element("input", { type: "checkbox", checked: true, onchange: () => this.hide(lane, !box.checked) });
      box.dataset.lane = lane;
      return element("label", {}, box, ` ${name}`);
    });
    return element("details", { className: "recorded-run__lanes" }, element("summary", { textContent: this.words.lanes }),
      element("div", {}, ...boxes));
  }

  hide(lane, isHidden) {
    if (isHidden) this.hidden.add(lane);
    else this.hidden.delete(lane);
    this.show();
  }

  play() {
    if (this.timer !== null) return this.pause();
    if (next(this.shown, this.now) === this.now) this.now = WHOLE;
    this.timer = setInterval(() => this.tick(), STEP_MS);
    this.tick();
  }

  tick() {
    const following = next(this.shown, this.now);
    if (following === this.now) return this.pause();
    this.now = following;
    this.show();
    this.keepInSight();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.show();
  }

  go(step) {
    this.now = step;
    if (this.timer !== null) this.pause();
    this.show();
    this.keepInSight();
  }

  onKey(event) {
    const isControl = event.target.matches("button, input, summary, a");
    const action = actionOf(event.key);
    if (!action || event.altKey || event.ctrlKey || event.metaKey || (isControl && (event.key === " " || event.target === this.slider))) return;
    event.preventDefault();
    if (action === "play") this.play();
    else this.go({
      next: next(this.shown, this.now), previous: previous(this.shown, this.now), first: this.shown[0] ?? WHOLE,
      last: this.shown.at(-1) ?? WHOLE, whole: WHOLE,
    }[action]);
  }

  show() {
    this.shown = shownSteps(this.run.steps, this.hidden);
    const step = this.run.steps[this.now];
    const place = placeOf(this.shown, this.now);
    this.slider.max = this.shown.length;
    this.slider.value = place;
    this.slider.setAttribute("aria-valuetext", step ? step.words : this.words.whole);
    this.count.value = this.words.count(place, this.shown.length);
    this.playing.textContent = this.timer === null ? "▶" : "❚❚";
    this.playing.setAttribute("aria-label", this.timer === null ? this.words.play : this.words.pause);
    this.said.textContent = step ? step.words : this.words.hint;
    this.showLine(step);
    this.showState();
    this.showInFigure(step);
  }

  showLine(step) {
    this.line.replaceChildren();
    if (!step?.source) return;
    const [path, number, text] = step.source;
    const place = element("a", { textContent: `${path}:${number}` });
    if (this.figure.dataset.source) place.href = `${this.figure.dataset.source}${path.replace(/\.py$/, "")}/#__codelineno-0-${number}`;
    this.line.append(element("code", { textContent: text }), " ", place);
  }

  showState() {
    this.state.replaceChildren(...stateAt(this.run.steps, this.now).map(({ name, value, isNew }) =>
      element("div", { className: isNew ? "is-new" : "" }, element("dt", { textContent: name }), element("dd", { textContent: value }))));
  }

  showInFigure(step) {
    for (const shape of this.figure.querySelectorAll("[data-lanes]")) {
      const lanes = shape.dataset.lanes.split(" ").map(Number);
      shape.classList.toggle("is-hidden", lanes.some(lane => this.hidden.has(lane)));
    }
    for (const shape of this.drawing.querySelectorAll("[data-step]")) shape.classList.toggle("is-now", +shape.dataset.step === this.now);
    const { x, y, width, height } = this.drawing.viewBox.baseVal;
    const from = step ? step.at + (this.runsDown ? HALF_ROW : 1) : Infinity;
    const rect = this.runsDown
      ? { x, y: Math.min(from, y + height), width, height: Math.max(y + height - from, 0) }
      : { x: Math.min(from, x + width), y, width: Math.max(x + width - from, 0), height };
    for (const [name, value] of Object.entries(rect)) this.cover.setAttribute(name, value);
  }

  keepInSight() {
    const shape = this.drawing.querySelector(`[data-step="${this.now}"]`);
    if (!shape) return;
    const place = shape.getBoundingClientRect();
    const top = this.runsDown ? this.heads.getBoundingClientRect().bottom : 60;
    const bottom = this.figure.lastElementChild.getBoundingClientRect().top;
    if (place.top < top) window.scrollBy(0, place.top - top - 20);
    else if (place.bottom > bottom) window.scrollBy(0, place.bottom - bottom + 20);
    const heads = this.run.steps[this.now].lanes.map(lane => this.heads.querySelector(`[data-lanes="${lane}"]`).getBoundingClientRect());
    this.scrollSideways(this.runsDown ? heads : [place]);
  }

  /** Scrolls the figure, where it is wider than the screen, to these parts of it. */
  scrollSideways(places) {
    const left = Math.min(...places.map(place => place.left)), right = Math.max(...places.map(place => place.right));
    const sides = this.body.getBoundingClientRect();
    if (right > sides.right) this.body.scrollLeft += Math.min(right - sides.right + 10, left - sides.left);
    else if (left < sides.left) this.body.scrollLeft -= sides.left - left + 10;
    if (this.runsDown) this.heads.scrollLeft = this.body.scrollLeft; // at once: the next step may measure them before the event
  }
}
