// Elements of a page, and how a part of it is drawn again.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made[name] = value;
    else if (value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export function button(role, text, onclick, attributes = {}) {
  return element("button", { type: "button", class: "md-button", "data-role": role, onclick, ...attributes }, text);
}

// A choice among values; each is what one reads, too, unless it is [value, text].
export function choice(role, label, values, chosen, onchange) {
  const options = values.map((each) => (Array.isArray(each) ? each : [each, String(each)]))
    .map(([value, text]) => element("option", { value, selected: value === chosen ? "" : null }, text));
  return element("label", {}, `${label} `,
    element("select", { "data-role": role, onchange: (event) => onchange(event.target.value) }, ...options));
}

// The numbers from the first to the last.
export const upTo = (first, last) => Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);

// Replaces the content of a part only if it has changed, so that the focus and a click on a button are not lost.
const drawn = new Map();
export function draw(part, state, content) {
  const text = JSON.stringify(state);
  if (drawn.get(part) === text) return;
  drawn.set(part, text);
  const focused = part.contains(document.activeElement) ? keyOf(document.activeElement) : null;
  part.replaceChildren(...content());
  if (focused) [...part.querySelectorAll("button, select")].find((each) => keyOf(each) === focused)?.focus();
}
const keyOf = (each) => JSON.stringify({ ...each.dataset });
