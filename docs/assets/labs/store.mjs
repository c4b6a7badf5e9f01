// The labs in this browser: kept in its localStorage, and nowhere else. `kafka-lite labs import` reads what is exported.

const KEY = "kafka_lite.labs";
export const FORMAT = "kafka_lite labs 1";

export function allLabs() {
  try {
    return JSON.parse(localStorage.getItem(KEY))?.labs ?? {};
  } catch {
    return {}; // no storage, or not ours: the page works without it
  }
}

export function kept(name) {
  return { files: {}, best: 0, total: 0, checks: 0, hints: {}, tasks: [], at_hand: 0, solution: -1, ...allLabs()[name] };
}

export function keep(name, lab) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ format: FORMAT, labs: { ...allLabs(), [name]: lab } }));
  } catch {}
}

// How many labs have a task that is done: their functions can run in a broker of the live cluster.
export const doneLabs = () => Object.values(allLabs()).filter(({ tasks = [] }) => tasks.some(({ mark }) => mark === "✓")).length;

export const exported = () => JSON.stringify({ format: FORMAT, labs: allLabs() }, null, 1);
