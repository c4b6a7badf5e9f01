// Show me the code: the function in which each thread of a process stands, and those that a single step has run.
//
// The worker says which functions and lines (kafka_learn/live/running_code.py); their text is that of its own files.

import { button, choice, draw, element } from "./elements.mjs";
import { highlighted } from "./python.mjs";
import { words } from "./words.mjs";

const SITE = new URL("../../", import.meta.url);
const CHINESE = document.documentElement.lang.startsWith("zh");

export class CodePanel {
  constructor(tell, ask) {
    this.tell = tell;
    this.ask = ask;
    this.texts = new Map(); // file -> its lines, or null while it is on its way
    this.pages = null; // module -> pages of the site about it
    this.chosen = null; // a function that the reader has chosen: {thread, name, file, first, lines, …}
    this.thread = null; // the number of the chosen thread
    this.last = null; // the last shot's code
    this.parts = {
      choices: element("div", { class: "live-row" }),
      ran: element("ol", { class: "live-ran", "data-role": "ran", tabindex: "0", "aria-label": words.ran }),
      stack: element("ol", { class: "live-ran", "data-role": "stack", tabindex: "0", "aria-label": words.stands }),
      head: element("p", { "data-role": "function" }),
      source: element("pre", { class: "live-source highlight", tabindex: "0", "data-role": "source", "aria-label": words.code }),
    };
    const column = (title, list) => element("div", {}, element("h4", {}, title), list);
    this.element = element("details", { class: "live-code", "data-role": "code", ontoggle: () => this.watch() },
      element("summary", {}, words.code), element("p", {}, words.codeHow), this.parts.choices,
      element("div", { class: "live-columns" }, column(words.stands, this.parts.stack), column(words.ran, this.parts.ran)),
      this.parts.head, this.parts.source);
  }

  watch(process = "broker-0") {
    this.thread = this.chosen = null;
    this.tell("watch", this.element.open ? process : "");
    if (this.element.open && this.pages === null) this.loadPages();
  }

  async loadPages() {
    this.pages = {};
    const answer = await fetch(new URL("./engine/code.json", import.meta.url));
    if (answer.ok) this.pages = await answer.json();
  }

  take(file, text) {
    this.texts.set(file, text.split("\n"));
    this.showSource();
  }

  show({ code }) {
    if (!code) return;
    const ranBefore = JSON.stringify(this.last?.ran);
    this.last = code;
    if (!code.threads.some(({ number }) => number === this.thread)) this.thread = null;
    // A step shows the thread that has just run, in the innermost of its functions; otherwise a thread stands somewhere.
    if (JSON.stringify(code.ran) !== ranBefore && code.ran.length) {
      if (!code.ran.some(({ thread }) => thread === this.thread)) this.thread = code.ran.at(-1).thread;
      const own = code.ran.filter(({ thread }) => thread === this.thread);
      this.chosen = own.reduce((inner, each) => (each.depth >= inner.depth ? each : inner)).place;
    }
    const first = (holds) => code.threads.find((thread) => thread.stack.length && holds(thread));
    this.thread ??= (first(({ name }) => name.startsWith("kafka-request-handler")) ?? first(() => true) ?? code.threads[0])?.number ?? null;
    this.showThread();
  }

  showThread() {
    const { last: { process, processes, threads, ran }, parts } = this;
    const stack = threads.find(({ number }) => number === this.thread)?.stack ?? [];
    draw(parts.choices, [process, processes, threads.map(({ number, name }) => [number, name]), this.thread], () => [
      choice("code-process", words.process, processes, process, (value) => this.watch(value)),
      choice("thread", words.thread, threads.map(({ number, name }) => [number, name]), this.thread, (value) => {
        this.thread = Number(value);
        this.chosen = null;
        this.showThread();
      }),
    ]);
    draw(parts.stack, [this.thread, stack], () => stack.map((place) => this.item(place, 0)));
    const own = ran.filter(({ thread }) => thread === this.thread);
    const least = Math.min(...own.map(({ depth }) => depth));
    draw(parts.ran, [this.thread, own], () => own.map(({ place, depth }) => this.item(place, depth - least)));
    this.showSource();
  }

  item(place, depth) {
    const show = () => { this.chosen = place; this.showSource(); };
    const line = element("li", {}, button("place", place.name, show, { class: "live-place", "data-name": place.name, title: `${place.file}:${place.first}` }));
    line.style.paddingLeft = `${Math.min(depth, 12) * 0.6}rem`;
    return line;
  }

  // The chosen function, or else the one in which the thread stands.
  showSource() {
    const standing = this.last?.threads.find(({ number }) => number === this.thread)?.stack[0];
    const place = this.chosen ?? standing;
    if (!place) {
      draw(this.parts.head, "", () => [words.noCode]);
      draw(this.parts.source, "", () => []);
      return;
    }
    const text = this.texts.get(place.file);
    if (text === undefined) {
      this.texts.set(place.file, null);
      this.ask(place.file);
    }
    const about = this.pages?.[place.module];
    draw(this.parts.head, [place, about], () => this.headOf(place, about));
    draw(this.parts.source, [place, Boolean(text)], () => (text ? sourceOf(place, text) : []));
    const running = this.parts.source.querySelector(".live-runs");
    if (running) this.parts.source.scrollTop = Math.max(0, running.offsetTop - this.parts.source.clientHeight / 2);
  }

  headOf(place, about) {
    const where = `${place.file}:${place.lines.at(-1) ?? place.first}`;
    const file = about
      ? element("a", { href: new URL(`${CHINESE ? "zh/" : ""}${about.file}#__codelineno-0-${place.first}`, SITE).href, "data-role": "file" }, where)
      : element("span", { "data-role": "file" }, where);
    const page = about?.classes[place.name.split(".")[0]];
    const link = page
      ? element("a", { href: new URL(`${CHINESE ? "zh/" : ""}${page.page}`, SITE).href, "data-role": "page" }, CHINESE ? page.zh : page.en)
      : "";
    return [element("code", {}, place.name), " · ", file, ...(link ? [" · ", link] : [])];
  }
}

// The lines of a function with their numbers; those that have run are marked.
function sourceOf(place, text) {
  const lines = highlighted(text.slice(place.first - 1, place.last).join("\n"));
  return lines.map((spans, at) => {
    const number = place.first + at;
    const runs = place.lines.includes(number);
    return element("div", { class: runs ? "live-runs" : null, "data-line": number },
      element("span", { class: "live-number", "aria-hidden": "true" }, String(number).padStart(4)),
      ...(runs ? [element("span", { class: "live-mark", title: words.hasRun }, "▸ ")] : ["  "]),
      ...spans.map(([kind, part]) => (kind ? element("span", { class: kind }, part) : part)), "\n");
  });
}
