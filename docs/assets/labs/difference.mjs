// The lines that differ between two texts, each [" ", "-" or "+", line]; equal lines only beside those that differ.

const AROUND = 2;

export function difference(before, after) {
  const rows = compared(before.split("\n"), after.split("\n"));
  const near = rows.map((_, at) => rows.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(([mark]) => mark !== " "));
  return rows.filter((_, at) => near[at]);
}

// By the longest common subsequence of what is between the equal beginning and the equal end.
function compared(before, after) {
  let first = 0;
  while (first < Math.min(before.length, after.length) && before[first] === after[first]) first += 1;
  let last = 0;
  while (last < Math.min(before.length, after.length) - first && before.at(-1 - last) === after.at(-1 - last)) last += 1;
  const old = before.slice(first, before.length - last);
  const now = after.slice(first, after.length - last);
  const longest = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      longest[i][j] = old[i] === now[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const rows = before.slice(0, first).map((line) => [" ", line]);
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      rows.push([" ", old[i]]);
      i += 1;
      j += 1;
    } else if (j === now.length || (i < old.length && longest[i + 1][j] >= longest[i][j + 1])) {
      rows.push(["-", old[i]]);
      i += 1;
    } else {
      rows.push(["+", now[j]]);
      j += 1;
    }
  }
  return [...rows, ...before.slice(before.length - last).map((line) => [" ", line])];
}
