// What somebody who got a wrong address was looking for. Pure: no page, no network.

const ID = /gb[-_ ]?(\d{1,6})(?!\d)/i;
const LOCAL_ID = /gbl-?([0-9a-f]{6})(?![0-9a-f])/i;
const BARE_NUMBER = /^(\d{1,6})(?:\.\w+)?$/;
const FARTHEST = 2;

// The id that a path means, in the registry's own spelling: "/gb/170" is GB0170. Null if it means none.
export function idIn(path) {
  const last = segmentsOf(path).at(-1) ?? "";
  if (last === "404.html") return null; // this page itself
  const local = LOCAL_ID.exec(last);
  if (local) return `GBL-${local[1].toUpperCase()}`;
  const found = ID.exec(last) ?? BARE_NUMBER.exec(last);
  return found ? `GB${found[1].padStart(4, "0")}` : null;
}

// The ids whose digits are closest, best first; none that would surprise.
export function nearestIds(id, ids, most = 5) {
  return ids
    .map((other) => ({ other, steps: distance(digits(id), digits(other)), apart: Math.abs(number(id) - number(other)) }))
    .filter((one) => one.steps <= FARTHEST)
    .sort((a, b) => a.steps - b.steps || a.apart - b.apart || (a.other < b.other ? -1 : 1))
    .slice(0, most)
    .map((one) => one.other);
}

// What to search for when the path means no id: the words of it below the root of the site.
export function wordsIn(path, root = "/") {
  const below = path.startsWith(root) ? path.slice(root.length) : path;
  const words = segmentsOf(below).join(" ").replace(/\.(html?|md|json|txt|xml)$/i, "");
  return words.split(/[^\p{L}\p{N}]+/u).filter((word) => word && !/^(gb|index)$/i.test(word)).join(" ");
}

// Steps from one to the other: a character added, dropped, changed, or swapped with its neighbour.
export function distance(from, to) {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= from.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1] ? 0 : 1;
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + same);
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[from.length][to.length];
}

function segmentsOf(path) {
  return path.split("/").filter(Boolean).map(decoded);
}

function decoded(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a percent sign that encodes nothing
  }
}

function digits(id) {
  return id.replace(/^GBL?-?/, "");
}

function number(id) {
  return Number.parseInt(digits(id), id.startsWith("GBL") ? 16 : 10);
}
