// What a reader does with clients that are more than a producer and a consumer: a transaction, and word count with Streams.

import { button, element } from "./elements.mjs";
import { words } from "./words.mjs";

const RECORDS = 6;
const LINES = 5;
const INSTANCES = [1, 2];

// Buttons of the transaction, what its producer says, and what its coordinator has in __transaction_state.
export function transactionControls({ transaction, coordinated }, tell) {
  const isOpen = transaction.state === "open";
  const ends = isOpen ? {} : { disabled: "" };
  return [
    element("div", { class: "live-row" },
      button("begin", words.begin(RECORDS), () => tell("begin", RECORDS)),
      button("commit", words.commit, () => tell("commit"), ends),
      button("abort", words.abort, () => tell("abort"), ends),
      button("crash", `${words.kill} ${words.producer}`, () => tell("crash", "transaction"),
        { "data-client": "transaction", ...(transaction.state === "no producer" ? { disabled: "" } : {}) })),
    element("div", { "data-role": "transaction", "data-state": transaction.state },
      `${words.producer}: ${words.transactionStates[transaction.state]}, ${words.inTransaction(transaction.records)}`),
    element("div", { "data-role": "coordinated" }, coordinated ? coordinatedText(coordinated) : words.noTransactions),
  ];
}

const coordinatedText = ({ coordinator, state, producer_id: id, epoch, partitions }) =>
  `${words.transactionCoordinator} ${coordinator}: ${state}, producer id ${id}, ${words.producerEpoch} ${epoch}, `
  + `${words.has} ${partitions.join(", ") || words.none}`;

// Instances with their tasks, and the words with the instance whose store has them.
export function wordCount({ word_count: { instances, words: counted, lines } }, tell) {
  return [
    element("div", { class: "live-row" },
      button("lines", words.writeLines(LINES), () => tell("lines", LINES)),
      ...INSTANCES.flatMap((number) => instanceButtons(number, instances, tell)),
      element("span", { "data-role": "written" }, words.written(lines))),
    ...Object.entries(instances).map(([name, its]) => element("div", { "data-role": "instance", "data-instance": name.split("-")[1], "data-state": its.state },
      `${name}: ${its.state}, ${words.tasks} `,
      ...(its.tasks.length ? its.tasks.map((task) => element("code", { "data-role": "task", "data-task": task }, task)).flatMap((each) => [each, " "]) : [words.none]))),
    ...(Object.keys(counted).length ? [countTable(counted)] : []),
  ];
}

function instanceButtons(number, instances, tell) {
  const name = `instance-${number}`;
  const runs = name in instances;
  const own = { "data-instance": number, "aria-pressed": String(runs) };
  return [
    button("instance-button", `${name} ${runs ? words.closes : words.opens}`, () => tell(runs ? "close" : "open", number), own),
    ...(runs ? [button("crash", `${words.kill} ${name}`, () => tell("crash", name), { "data-client": name })] : []),
  ];
}

function countTable(counted) {
  const rows = Object.entries(counted).sort(([one, a], [other, b]) => b.count - a.count || (one < other ? -1 : 1));
  const most = rows[0][1].count;
  const cell = (name, { count, instance, task }) => {
    const bar = element("i", {});
    bar.style.width = `${(100 * count) / most}%`;
    return element("tr", { "data-role": "word", "data-word": name },
      element("th", { scope: "row" }, name),
      element("td", {}, element("span", { "data-role": "count" }, String(count)), element("div", { class: "live-bar", "aria-hidden": "true" }, bar)),
      element("td", {}, instance), element("td", {}, task));
  };
  const head = [words.word, words.count, words.instance, words.task];
  return element("div", { class: "live-scroll live-words" }, element("table", {},
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((row) => cell(...row)))));
}
