// A lab in its page: write, check, hints, what has changed, start over, export. The check itself runs in worker.mjs.
//
// Parts carry data-role, and data-task, data-test, data-module or data-state where they belong to one.

import { button, element } from "../live/elements.mjs";
import { difference } from "./difference.mjs";
import { editorClass } from "./editor.mjs";
import { exported, keep, kept } from "./store.mjs";
import { language, words } from "./words.mjs";

const FILE = "kafka-lite-labs.json";
const PLACE = "in-this-page";
const root = document.getElementById("lab");
const name = root.dataset.lab;
const place = (role, tag = "div", attributes = {}) => element(tag, { "data-role": role, ...attributes });
const parts = {
  files: element("div", { class: "lab-row", "data-role": "files", role: "group", "aria-label": words.files }),
  editor: place("editor", "div", { class: "lab-editor" }),
  controls: element("div", { class: "lab-row" }),
  status: place("status", "p", { role: "status" }),
  verdict: place("verdict", "pre", { class: "lab-verdict", "aria-live": "polite" }),
  tasks: place("tasks", "ol", { class: "lab-tasks", "aria-label": words.tasks }),
  tests: place("tests", "ul", { class: "lab-tests", "aria-label": words.tests }),
  printed: place("printed"),
  hints: place("hints", "ol", { class: "lab-hints", "aria-label": words.hints }),
  difference: place("difference"),
  solution: place("solution-text"),
  export: place("exported"),
};

let isOpen = false;
let data = null;
let mine = kept(name);
let editor = null;
let shown = 0;
let worker = null;
let isReady = false;
let shipped = null; // module → its text, once the reader has asked for the solution
let wantsSolution = false;
let check = null; // the running one: {told, timer}

const changed = (more) => { mine = { ...mine, ...more }; keep(name, mine); };
const textOf = (module) => mine.files[module.name] ?? module.text;

// ── the files ───────────────────────────────────────────────────────────────────────────────────────────────────────

async function open() {
  if (isOpen) return;
  isOpen = true;
  const response = await fetch(new URL(`./data/${name}.json`, import.meta.url));
  if (!response.ok) {
    root.replaceChildren(element("p", { role: "status", "data-role": "unable" }, words.unable));
    return;
  }
  data = await response.json();
  const Editor = await editorClass();
  editor = new Editor(parts.editor, words.editor, wrote, () => check || begin());
  root.replaceChildren(parts.files, parts.editor, parts.controls, parts.status, parts.export, parts.difference, parts.solution, parts.verdict, parts.printed,
    element("div", { class: "lab-columns" }, element("div", {}, parts.tasks, parts.hints), parts.tests));
  show(0);
  controls();
  tasks(mine.tasks);
  hints();
  lead(data.tasks.find((task) => !isDone(task)) ?? data.tasks[0], false);
  if (isAskedFor()) document.getElementById(PLACE)?.scrollIntoView(); // before, the page was too short for it
}

// The file and the line of what is to be written for a task: where it says so, or its first function.
function placeOf(task) {
  const texts = data.modules.map((module) => textOf(module).split("\n"));
  const file = texts.findIndex((lines) => lines.some((line) => line.includes(`your task ${task.number}: `)));
  if (file >= 0) return [file, texts[file].findIndex((line) => line.includes(`your task ${task.number}: `)) + 1];
  for (const [module, name] of task.functions) {
    const at = data.modules.findIndex((each) => each.name === module);
    let line = -1;
    for (const part of name.split(".")) { // a class, and a method in it
      const start = new RegExp(`^\\s*(class|def) ${part}\\b`);
      line = texts[at].findIndex((text, number) => number > line && start.test(text));
    }
    if (line >= 0) return [at, line + 1];
  }
  return null;
}

function lead(task, isWriting) {
  const found = placeOf(task);
  if (found) goTo(...found, isWriting);
}

function goTo(file, line, isWriting = true) {
  if (file !== shown) show(file);
  editor.show(line, isWriting);
}

function show(number) {
  shown = number;
  editor.text = textOf(data.modules[number]);
  parts.files.replaceChildren(...data.modules.map((module, at) =>
    button("file", module.file, () => show(at), { "data-module": module.name, "aria-pressed": String(at === number) })));
  if (!parts.difference.hidden) differences();
  solution();
}

function wrote(text) {
  changed({ files: { ...mine.files, [data.modules[shown].name]: text } });
  if (!parts.difference.hidden) differences();
  solution();
}

function controls() {
  parts.controls.replaceChildren(
    check ? button("stop", words.stop, () => stopped()) : button("check", words.check, begin, { class: "md-button md-button--primary" }),
    button("hint", words.hint, nextHint),
    button("show-difference", parts.difference.hidden ? words.difference : words.hide, toggle, { "aria-pressed": String(!parts.difference.hidden) }),
    mine.checks && !check ? button("solution", wantsSolution ? words.hideSolution : words.solution, toggleSolution, { "aria-pressed": String(wantsSolution) }) : "",
    button("reset", words.reset, reset),
    button("export", words.export, download),
    mine.total ? element("span", { "data-role": "best" }, `${words.best}: ${mine.best}/${mine.total}`) : "");
}

function reset() {
  if (!confirm(words.sure)) return;
  changed({ files: {}, tasks: [], at_hand: 0, best: 0, total: 0 });
  for (const part of [parts.verdict, parts.tests, parts.printed]) part.replaceChildren();
  show(shown);
  tasks([]);
  controls();
}

function toggle() {
  parts.difference.hidden = !parts.difference.hidden;
  if (!parts.difference.hidden) differences();
  controls();
}

function differences() {
  parts.difference.replaceChildren(compared(data.modules[shown].text, textOf(data.modules[shown]), words.same));
}

function compared(before, after, ifSame) {
  const rows = difference(before, after);
  return rows.length
    ? element("pre", { class: "lab-difference", tabindex: "0" }, ...rows.map(([mark, line]) =>
      element("span", { class: { "+": "lab-more", "-": "lab-less", " ": "" }[mark] }, `${mark} ${line}\n`)))
    : element("p", {}, ifSame);
}

// After a check, as `labs solution`: what the shipped code has instead of the reader's. That it was seen is kept.
function toggleSolution() {
  const isDone = mine.total && mine.best === mine.total;
  if (!wantsSolution && mine.solution < 0 && !isDone && !confirm(words.sureOfSolution)) return;
  wantsSolution = !wantsSolution;
  if (wantsSolution && mine.solution < 0) changed({ solution: mine.best });
  if (wantsSolution && !shipped) {
    if (worker && isReady) askForSolution();
    else load();
  }
  solution();
  controls();
}

const askForSolution = () => worker.postMessage({ shipped: data.modules.map(({ name: module }) => module) });

function solution() {
  if (!wantsSolution || !shipped) return parts.solution.replaceChildren();
  const module = data.modules[shown];
  const text = textOf(module);
  parts.solution.replaceChildren(text === shipped[module.name] ? "" : words.toShipped, compared(text, shipped[module.name], words.identical));
}

function download() {
  const url = URL.createObjectURL(new Blob([exported()], { type: "application/json" }));
  element("a", { href: url, download: FILE }).click();
  URL.revokeObjectURL(url);
  parts.export.replaceChildren(words.exported, " ", element("code", { "data-role": "command" }, `kafka-lite labs import ${FILE}`));
}

// ── a check ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function begin() {
  check = { told: null, timer: 0 };
  controls();
  if (worker && isReady) send();
  else load();
}

function load() {
  isReady = false;
  worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
  worker.onmessage = ({ data: message }) => heard(message);
  worker.onerror = (event) => heard({ failed: event.message || words.unable });
  worker.postMessage({ lab: name, language });
}

function send() {
  parts.status.textContent = words.checking;
  watch();
  worker.postMessage({ check: Object.fromEntries(data.modules.map((module) => [module.name, textOf(module)])) });
}

// A worker cannot be interrupted from outside, only ended: a loop in code that asks no clock would run for ever.
function watch() {
  clearTimeout(check.timer);
  check.timer = setTimeout(() => stopped(words.hung.replace("{}", data.silence_s)), data.silence_s * 1000);
}

function heard(message) {
  if (message.progress) parts.status.textContent = words[message.progress];
  else if (message.ready) {
    isReady = true;
    parts.status.textContent = words.ready;
    if (wantsSolution && !shipped) askForSolution();
    if (check) send();
  } else if (message.shipped) {
    ({ shipped } = message);
    solution();
  } else if (message.failed !== undefined) failed(message.failed);
  else if (!check) return;
  else if (message.told) {
    check.told = JSON.parse(message.told);
    watch();
    tests(check.told.rows);
  } else if (message.result) ended(JSON.parse(message.result), true);
}

function endWorker() {
  worker?.terminate();
  worker = null;
  isReady = false;
}

function stopped(why = "") {
  const told = check?.told;
  endWorker();
  if (told) ended({ ...told, verdict: [told.verdict, why].filter(Boolean).join("\n") }, false);
  else ended(null, false);
  parts.status.textContent = "";
}

function failed(words_) {
  endWorker();
  ended(null, false);
  parts.status.textContent = check === null && !data ? words.unable : `${words.lost}: ${words_}`;
}

function ended(result, isWhole) {
  clearTimeout(check?.timer);
  check = null;
  parts.status.textContent = words.ready;
  if (result) {
    const isBetter = result.score >= mine.best;
    changed({
      checks: mine.checks + 1, tasks: result.rows.length ? result.tasks : mine.tasks, at_hand: result.at_hand,
      ...(isWhole && isBetter && result.total ? { best: result.score, total: result.total } : {}),
    });
    parts.verdict.textContent = result.verdict;
    parts.verdict.dataset.state = result.passed ? "passed" : result.failed ? "stopped" : "open";
    parts.printed.replaceChildren(...(result.printed ? [element("pre", { class: "lab-verdict", tabindex: "0" }, result.printed)] : []));
    tests(result.rows);
    tasks(mine.tasks);
    if (result.passed) hints();
    parts.verdict.scrollIntoView({ block: "nearest" });
  }
  controls();
}

// ── what one sees ───────────────────────────────────────────────────────────────────────────────────────────────────

const MARKS = { passed: "✓", failed: "✗", running: "…", waits: "·" };

function tests(rows) {
  parts.tests.replaceChildren(...rows.map((row) =>
    element("li", { "data-role": "test", "data-test": row.test, "data-task": row.task, "data-state": row.state },
      `${MARKS[row.state]} ${row.title}`,
      row.state === "failed" ? element("pre", { "data-role": "message" }, ...withLines(row.message)) : "")));
}

// "line 12 of TimingWheel.add" and "(timer.py, line 12)" lead to the line.
function withLines(message) {
  const found = /line (\d+)/.exec(message);
  if (!found) return [message];
  const file = data.modules.findIndex((module) => message.includes(`(${module.file}, `));
  if (message.includes(".py, ") && file < 0) return [message];
  const there = () => goTo(file >= 0 ? file : shown, Number(found[1]));
  return [message.slice(0, found.index), element("button", { type: "button", class: "lab-line", "data-role": "line", onclick: there }, found[0]),
    message.slice(found.index + found[0].length)];
}

function tasks(found) {
  const rows = found.length ? found : data.tasks.map((task) => ({ number: task.number, title: task.title[language], mark: "·", earned: 0, total: 0 }));
  const states = { "✓": "done", "◐": "half", "·": "open" };
  parts.tasks.replaceChildren(...rows.map((task) =>
    element("li", { "data-role": "task", "data-task": task.number, "data-state": states[task.mark] },
      `${task.mark} `, linked(data.tasks.find((each) => each.number === task.number), `${task.number} ${task.title}`),
      task.total ? ` ${task.earned}/${task.total}` : "")));
}

// A task's title leads to its place in the editor, if the lab has one for it.
function linked(task, title) {
  if (!placeOf(task)) return title;
  return element("button", { type: "button", class: "lab-line", "data-role": "to-task", onclick: () => lead(task, true) }, title);
}

const isDone = (task) => mine.tasks.some((each) => each.number === task.number && each.mark === "✓");

function nextHint() {
  const number = mine.at_hand || (data.tasks.find((task) => !isDone(task)) ?? data.tasks.at(-1)).number;
  const count = data.tasks.find((task) => task.number === number).hints[language].length;
  const given = mine.hints[number] ?? 0;
  changed({ hints: { ...mine.hints, [number]: Math.min(given + 1, count) } });
  hints();
  parts.status.textContent = given >= count ? words.last : "";
}

function hints() {
  parts.hints.replaceChildren(...data.tasks.flatMap((task) => task.hints[language].slice(0, mine.hints[task.number] ?? 0).map((hint, at) =>
    element("li", { "data-role": "hint-text", "data-task": task.number },
      `${words.task} ${task.number}, ${at + 1}/${task.hints[language].length}: ${hint}`))));
}

parts.difference.hidden = true;
const isAskedFor = () => location.hash === `#${PLACE}`;
addEventListener("hashchange", () => { if (isAskedFor()) open(); });
if (Object.keys(mine.files).length || isAskedFor()) open();
else root.replaceChildren(button("open", words.open, open, { class: "md-button md-button--primary" }));
