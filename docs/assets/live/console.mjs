// The console: cells of Python that run inside the world (kafka_learn/live/console_program.py).

import { button, element } from "./elements.mjs";
import { words } from "./words.mjs";

const EXAMPLES = [
  "kafka-lite topics --describe",
  `producer = Producer(acks="all")
for number in range(5):
    sent = producer.send(ProducerRecord("demo", f"from the console {number}".encode())).get()
    print(sent.partition, sent.offset)`,
  `reader = Consumer("demo")
for _ in range(5):
    for record in reader.poll(500):
        print(record.partition, record.offset, record.value)`,
  "kafka-lite consumer-groups --describe --group readers",
  'Admin().describe(["demo"])',
];

export class ConsolePanel {
  constructor(tell) {
    this.tell = tell;
    this.input = element("textarea", {
      class: "live-input", "data-role": "input", rows: "4", spellcheck: "false", "aria-label": words.cell,
      onkeydown: (event) => this.key(event),
    });
    this.input.value = EXAMPLES[0];
    this.output = element("div", { class: "live-output", "data-role": "output", role: "log", tabindex: "0", "aria-label": words.output });
    const examples = element("div", { class: "live-row" }, `${words.examples}: `, ...EXAMPLES.map((text) =>
      button("example", text.split("\n")[0], () => { this.input.value = text; this.input.rows = Math.max(4, text.split("\n").length); this.input.focus(); })));
    this.element = element("section", { "data-role": "console" }, element("h3", {}, words.console), element("p", {}, words.consoleHow),
      examples, this.input,
      element("div", { class: "live-row" },
        button("run", words.run, () => this.run()), button("interrupt", words.interrupt, () => this.tell("interrupt"))),
      this.output);
  }

  key(event) {
    if (event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.run();
    }
  }

  run() {
    if (this.input.value.trim()) this.tell("run", this.input.value);
  }

  show({ cells, is_paused: isPaused }) {
    for (const cell of cells) {
      let shown = this.output.querySelector(`[data-cell="${cell.number}"]`);
      if (!shown) {
        shown = element("div", { "data-role": "cell", "data-cell": cell.number },
          element("pre", { class: "live-cell" }, cell.source), element("pre", { class: "live-printed" }));
        this.output.append(shown);
      }
      shown.dataset.state = cell.state;
      shown.lastChild.textContent = cell.output;
      this.output.scrollTop = this.output.scrollHeight;
    }
    for (const shown of this.output.querySelectorAll("[data-state=running]")) shown.dataset.note = isPaused ? words.timeStands : words.runs;
  }
}
