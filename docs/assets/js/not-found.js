// Joined by generate_site.py from templates/scripts: change the modules there.
(() => {
"use strict";
const modules = {};

modules["loading"] = (() => {
// Where the site lies, and what is loaded from it. As scripts: a page that was opened from disk may not fetch files.

const root = new URL("../../", document.currentScript.src);

const loading = new Map();

/** What a script under assets/ holds: load("data/breaks"). It is loaded once; after a failure the next call tries again. */
function load(name) {
  if (!loading.has(name)) {
    loading.set(name, request(name));
    loading.get(name).catch(() => loading.delete(name));
  }
  return loading.get(name);
}

function request(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(`assets/${name}.js`, root);
    script.addEventListener("load", () => resolve(self.graphBreaks[name]));
    script.addEventListener("error", () => reject(new Error(`${script.src} could not be loaded`)));
    document.head.append(script);
  });
}

return { root, load };
})();

modules["nearest"] = (() => {
// What somebody who got a wrong address was looking for. Pure: no page, no network.

const ID = /gb[-_ ]?(\d{1,6})(?!\d)/i;
const LOCAL_ID = /gbl-?([0-9a-f]{6})(?![0-9a-f])/i;
const BARE_NUMBER = /^(\d{1,6})(?:\.\w+)?$/;
const FARTHEST = 2;

// The id that a path means, in the registry's own spelling: "/gb/170" is GB0170. Null if it means none.
function idIn(path) {
  const last = segmentsOf(path).at(-1) ?? "";
  if (last === "404.html") return null; // this page itself
  const local = LOCAL_ID.exec(last);
  if (local) return `GBL-${local[1].toUpperCase()}`;
  const found = ID.exec(last) ?? BARE_NUMBER.exec(last);
  return found ? `GB${found[1].padStart(4, "0")}` : null;
}

// The ids whose digits are closest, best first; none that would surprise.
function nearestIds(id, ids, most = 5) {
  return ids
    .map((other) => ({ other, steps: distance(digits(id), digits(other)), apart: Math.abs(number(id) - number(other)) }))
    .filter((one) => one.steps <= FARTHEST)
    .sort((a, b) => a.steps - b.steps || a.apart - b.apart || (a.other < b.other ? -1 : 1))
    .slice(0, most)
    .map((one) => one.other);
}

// What to search for when the path means no id: the words of it below the root of the site.
function wordsIn(path, root = "/") {
  const below = path.startsWith(root) ? path.slice(root.length) : path;
  const words = segmentsOf(below).join(" ").replace(/\.(html?|md|json|txt|xml)$/i, "");
  return words.split(/[^\p{L}\p{N}]+/u).filter((word) => word && !/^(gb|index)$/i.test(word)).join(" ");
}

// Steps from one to the other: a character added, dropped, changed, or swapped with its neighbour.
function distance(from, to) {
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

return { idIn, nearestIds, wordsIn, distance };
})();

modules["not-found"] = (() => {
// On the page for addresses that lead nowhere: an id that exists is opened at once; otherwise, what was probably meant.

const { load, root } = modules["loading"];
const { idIn, nearestIds, wordsIn } = modules["nearest"];

const id = idIn(location.pathname);

if (id) {
  load("data/ids").then((titles) => (id in titles ? open(id) : show(...close(id, titles))), () => {}); // without a network, the page's own words have to do
} else {
  const words = wordsIn(location.pathname, root.pathname);
  if (words) show(...search(words));
}

/** Go to the page of an id, in place of this one: Back then leads to where the reader came from. */
function open(id) {
  const page = pageOf(id);
  if (page.pathname === location.pathname) return; // it is the page itself that is missing
  location.replace(page.href + location.hash);
}

function pageOf(id) {
  return new URL(`gb/${id.toLowerCase()}.html`, root);
}

function close(id, titles) {
  const found = nearestIds(id, Object.keys(titles));
  const none = element("p", `There is no ${id}, and no id that looks like it.`);
  return found.length ? [element("h2", `There is no ${id}. Did you mean`), list(found, titles)] : [none];
}

function search(words) {
  const link = element("a", `Search the registry for “${words}”`);
  link.href = new URL(`index.html?${new URLSearchParams({ q: words })}`, root);
  const paragraph = document.createElement("p");
  paragraph.append(link);
  return [paragraph];
}

function list(ids, titles) {
  const items = document.createElement("ul");
  for (const one of ids) {
    const link = element("a", one);
    link.href = pageOf(one);
    const item = document.createElement("li");
    item.append(link, ` — ${titles[one]}`);
    items.append(item);
  }
  return items;
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function show(...parts) {
  const place = document.getElementById("nearest");
  place.append(...parts);
  place.hidden = false;
  const links = place.querySelectorAll("a");
  if (links.length === 1) links[0].focus(); // Enter goes there; among several guesses none is the reader's choice
}
})();
})();
