// The live cluster: a button that loads it, and what one sees and does. The cluster itself runs in worker.mjs.
//
// Controls and cells carry data-role, and data-broker or data-partition where they belong to one.

import { transactionControls, wordCount } from "./applications.mjs";
import { CodePanel } from "./code.mjs";
import { ConsolePanel } from "./console.mjs";
import { button, choice, draw, element, upTo } from "./elements.mjs";
import { doneLabs, exported } from "../labs/store.mjs";
import { words } from "./words.mjs";

const BROKERS = [0, 1, 2];
const CONSUMERS = [1, 2, 3, 4, 5];
const SPEEDS = [0.1, 0.5, 1, 5];
const RECORDS = [1, 10, 100, 1000];
const KEPT_EVENTS = 300;
const MOST_PARTITIONS = 9;
const root = document.getElementById("live");
let worker = null;
let ownBroker = ""; // which one gets the functions that the reader has written in labs; "" is none
let own = null; // {broker, functions, notes}, once it has them

const tell = (...command) => worker.postMessage({ words: command });

// ── the parts ───────────────────────────────────────────────────────────────────────────────────────────────────────

const parts = {
  clock: element("output", { "data-role": "clock" }),
  time: element("div", { class: "live-row" }),
  brokers: element("div", { class: "live-brokers" }),
  links: element("div", { class: "live-row" }),
  clients: element("div", {}),
  topic: element("div", { class: "live-row" }),
  transaction: element("div", {}),
  wordCount: element("div", {}),
  group: element("div", { "data-role": "group" }),
  partitions: element("div", { class: "live-scroll" }),
  events: element("ol", { class: "live-events", tabindex: "0", "aria-label": words.events }),
  message: element("p", { role: "status", "data-role": "status" }),
  share: element("div", {}),
};
let acks = "all";
let records = 10;
const cells = new ConsolePanel(tell);
const code = new CodePanel(tell, (file) => worker.postMessage({ file }));

function brokerCard(row) {
  const its = { "data-broker": row.broker };
  const lives = row.state === "up" || row.state === "starting";
  const controls = row.state === "down"
    ? [button("start", words.start, () => tell("start", row.broker), its)]
    : [
      button("kill", words.kill, () => tell("kill", row.broker), its),
      button("stop", words.stop, () => tell("stop", row.broker), its),
      lives
        ? button("pause", words.pause, () => tell("pause", row.broker), its)
        : button("resume", words.resume, () => tell("resume", row.broker), its),
    ];
  return element("section", { class: `live-broker live-${row.state}`, "data-role": "broker", "data-state": row.state, ...its },
    element("strong", {}, `${words.broker} ${row.broker}`),
    row.is_controller ? element("span", { class: "live-tag", "data-role": "controller", ...its }, words.controller) : "",
    own?.broker === row.broker ? element("div", { "data-role": "own", ...its }, words.ownFunctions(own.functions), ...own.notes.map((note) => element("div", {}, note))) : "",
    element("div", {}, `${words[row.state]}${row.state === "down" ? "" : `, ${row.threads} ${words.threads}`}`),
    element("div", { class: "live-row" }, ...controls));
}

function linkControls(shot) {
  const machines = [...shot.brokers.map((row) => `broker-${row.broker}`), "zookeeper", "clients"];
  const pairs = machines.flatMap((first, at) => machines.slice(at + 1).map((second) => [first, second]))
    .filter(([first, second]) => first.startsWith("broker") && second !== "clients");
  const isCut = ([first, second]) => shot.cuts.some(([a, b]) => (a === first && b === second) || (a === second && b === first));
  return pairs.map((pair) => button("cut", `${isCut(pair) ? words.heal : words.cut} ${pair.join(" – ")}`,
    () => tell(isCut(pair) ? "heal" : "cut", ...pair), { "data-link": pair.join(" "), "aria-pressed": String(isCut(pair)) }));
}

function clientControls(shot) {
  const { sent, acknowledged, failed } = shot.producer;
  const row = (...content) => element("div", { class: "live-row" }, ...content);
  return [
    row(button("produce", words.produce, () => tell("produce", records, acks)),
      choice("records", words.records, RECORDS, records, (value) => { records = Number(value); }),
      choice("acks", "acks", ["0", "1", "all"], acks, (value) => { acks = value; }),
      element("span", { "data-role": "acknowledged" }, `${sent} ${words.sent}, ${acknowledged} ${words.acknowledged}, ${failed} ${words.lost}`)),
    row(...CONSUMERS.flatMap((number) => consumerButtons(number, `consumer-${number}` in shot.consumers))),
    row(choice("isolation", words.isolation, ["read_uncommitted", "read_committed"], shot.isolation, (value) => tell("isolation", value))),
  ];
}

function consumerButtons(number, runs) {
  const name = `consumer-${number}`;
  return [
    button("consume", `${name} ${runs ? words.leave : words.join}`, () => tell(runs ? "leave" : "join", number),
      { "data-consumer": number, "aria-pressed": String(runs) }),
    ...(runs ? [button("crash", `${words.kill} ${name}`, () => tell("crash", name), { "data-client": name })] : []),
  ];
}

// What the topic has, by its leaders' account. Kafka can only add partitions; replicas can be added and taken away.
function topicControls({ topic }) {
  if (!topic) return [];
  const alter = (setting) => (value) => tell("alter", setting, value);
  const setting = (role, label, name, values) => choice(role, label, values, topic[name], alter(name));
  return [
    choice("partitions", words.partitions, upTo(topic.partitions, MOST_PARTITIONS), topic.partitions, (value) => tell("partitions", Number(value))),
    choice("replicas", words.replicas, upTo(1, 3), topic.replicas, (value) => tell("replicas", Number(value))),
    setting("min-insync", "min.insync.replicas", "min.insync.replicas", ["1", "2", "3"]),
    setting("unclean", words.unclean, "unclean.leader.election.enable", ["false", "true"]),
  ];
}

function groupText(shot) {
  const { group, consumers } = shot;
  const about = group
    ? `${words.group} ${group.group}: ${group.state}, ${words.generation} ${group.generation}, ${words.coordinator} ${group.coordinator}`
    : `${words.group}: ${words.none}`;
  const each = Object.entries(consumers).map(([name, its]) => element("div", { "data-role": "consumer", "data-consumer": name.split("-")[1] },
    `${name}: ${words.has} ${its.partitions.join(", ") || words.none}; ${its.records} ${words.read}${its.last ? ` (${its.last})` : ""}`));
  return [element("div", {}, about), ...each];
}

function partitionTable(shot) {
  const ids = shot.brokers.map((row) => row.broker);
  const most = Math.max(1, ...shot.partitions.flatMap((row) => Object.values(row.replicas).map((its) => its.leo)));
  const head = [words.partition, words.leader, words.epoch, words.isr, "LSO", ...ids.map((id) => `${words.replica} ${id}: ${words.offsets}`)];
  const rows = shot.partitions.map((row) => element("tr", { "data-role": "partition", "data-partition": row.partition },
    element("th", { scope: "row" }, `${row.topic}-${row.partition}`),
    element("td", { "data-role": "leader", "data-partition": row.partition }, row.leader === null ? "–" : String(row.leader)),
    element("td", {}, String(row.epoch)),
    element("td", { "data-role": "isr", "data-partition": row.partition }, row.isr.join(", ")),
    element("td", { "data-role": "lso", "data-partition": row.partition, class: isOpen(row) ? "live-waits" : "" }, row.lso === null ? "–" : String(row.lso)),
    ...ids.map((id) => replicaCell(row, id, most))));
  return [element("table", {}, element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows))];
}

// Whether readers of committed records stop before the HW.
const isOpen = ({ lso, leader, replicas }) => lso !== null && lso < (replicas[leader]?.hw ?? 0);

// Numbers, and a bar of which the filled part is below the HW and the outlined one between HW and LEO.
function replicaCell(row, id, most) {
  const its = row.replicas[id];
  if (!its) return element("td", {}, "–");
  const own = { "data-broker": id, "data-partition": row.partition };
  const kind = row.leader === id ? "live-leads" : row.isr.includes(id) ? "" : "live-out";
  const bar = element("div", { class: "live-bar", "aria-hidden": "true" }, element("i", {}), element("b", {}));
  bar.children[0].style.width = `${(100 * its.hw) / most}%`;
  bar.children[1].style.width = `${(100 * Math.max(0, its.leo - its.hw)) / most}%`;
  return element("td", { class: kind, "data-role": "replica", ...own },
    element("span", { "data-role": "hw", ...own }, String(its.hw)), " / ", element("span", { "data-role": "leo", ...own }, String(its.leo)), bar);
}

// The run so far as a link, and as a command for a terminal: the same events, and so the same digest, as long as nobody does more.
function shared(shot) {
  const query = new URLSearchParams({ seed: shot.seed, ...(shot.actions ? { actions: shot.actions } : {}) });
  const link = `?${decodeURIComponent(query.toString())}`;
  if (own?.functions) return [element("p", { "data-role": "digest" }, words.ownRun)];
  const command = `make simulate LINK='${link}&until=${shot.now_s}'`;
  return [
    element("p", {}, element("a", { "data-role": "share", href: link }, words.share), ` ${words.shareHow}`),
    element("pre", { tabindex: "0" }, element("code", { "data-role": "command" }, command)),
    element("p", { "data-role": "digest" }, `Python ${shot.python}, ${shot.steps} ${words.steps}, ${words.digest} ${shot.digest.slice(0, 16)}`),
  ];
}

function addEvents(events) {
  for (const { number, time_s: time, text, count } of events) {
    const line = `${time.toFixed(3)} s  ${text}${count > 1 ? `  ×${count}` : ""}`;
    const there = parts.events.querySelector(`[data-number="${number}"]`);
    if (there) there.textContent = line;
    else parts.events.append(element("li", { "data-role": "event", "data-number": number }, line));
  }
  while (parts.events.children.length > KEPT_EVENTS) parts.events.firstChild.remove();
  if (events.length) parts.events.scrollTop = parts.events.scrollHeight;
}

// ── the whole ───────────────────────────────────────────────────────────────────────────────────────────────────────

function show(shot) {
  parts.clock.value = `${shot.now_s.toFixed(2)} ${words.seconds}`;
  parts.message.textContent = shot.is_hurrying ? words.hurries : shot.is_ready ? (shot.expected ? words.replay(shot.expected) : "") : words.topic;
  const time = { paused: shot.is_paused, speed: shot.speed };
  draw(parts.time, time, () => [
    shot.is_paused ? button("go", words.go, () => tell("time", "go")) : button("freeze", words.freeze, () => tell("time", "stop")),
    button("step", words.step, () => tell("time", "step")),
    choice("speed", words.speed, SPEEDS, shot.speed, (value) => tell("speed", Number(value))),
  ]);
  draw(parts.brokers, shot.brokers, () => shot.brokers.map(brokerCard));
  draw(parts.links, [shot.cuts, shot.is_ready], () => linkControls(shot));
  draw(parts.clients, [shot.producer, Object.keys(shot.consumers), shot.isolation], () => clientControls(shot));
  draw(parts.topic, shot.topic, () => topicControls(shot));
  draw(parts.transaction, [shot.transaction, shot.coordinated], () => transactionControls(shot, tell));
  draw(parts.wordCount, shot.word_count, () => wordCount(shot, tell));
  draw(parts.group, [shot.group, shot.consumers], () => groupText(shot));
  draw(parts.partitions, shot.partitions, () => partitionTable(shot));
  draw(parts.share, [shot.actions, shot.is_paused ? shot.now_s : Math.floor(shot.now_s)], () => shared(shot));
  code.show(shot);
  cells.show(shot);
  addEvents(shot.events);
}

function open() {
  const section = (title, ...content) => element("section", {}, element("h3", {}, title), ...content);
  root.replaceChildren(
    parts.message, section(words.time, parts.time, parts.clock), parts.brokers, parts.partitions,
    section(words.clients, parts.clients, parts.group), section(words.topicSettings, parts.topic), section(words.links, parts.links),
    section(words.transaction, element("p", {}, words.transactionHow), parts.transaction),
    section(words.wordCount, element("p", {}, words.wordCountHow), parts.wordCount), code.element, cells.element,
    section(words.events, parts.events), section(words.again, parts.share));
  parts.message.textContent = words.engine;
  worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
  worker.onerror = (event) => { parts.message.textContent = `${words.failed}: ${event.message}`; };
  worker.onmessage = ({ data }) => {
    if (data.shot) show(JSON.parse(data.shot));
    else if (data.own) own = data.own;
    else if (data.file) code.take(data.file, data.text);
    else if (data.progress) parts.message.textContent = words[data.progress];
    else if (data.refused) parts.message.textContent = data.refused;
    else if (data.failed) parts.message.textContent = `${words.failed}: ${data.failed}`;
  };
  worker.postMessage({ link: location.search, own: ownBroker === "" ? null : { broker: Number(ownBroker), labs: exported() } });
}

// For those who have solved a lab in its page.
function ownChoice() {
  const values = [["", words.none], ...BROKERS.map((number) => [number, `${words.broker} ${number}`])];
  return doneLabs() ? [choice("own-broker", words.ownBroker, values, ownBroker, (value) => { ownBroker = value; }), element("p", {}, words.ownHow)] : [];
}

async function offer() {
  const isThere = (await fetch(new URL("./engine/pyodide.mjs", import.meta.url), { method: "HEAD" })).ok;
  const reason = "Suspending" in WebAssembly ? (isThere ? "" : words.absent) : words.unable;
  root.replaceChildren(...(reason
    ? [element("p", { "data-role": "unable" }, reason)]
    : [button("load", words.load, open, { class: "md-button md-button--primary" }), element("p", {}, words.about), ...ownChoice()]));
}

offer();
