// On the page for addresses that lead nowhere: an id that exists is opened at once; otherwise, what was probably meant.

import { load, root } from "./loading.js";
import { idIn, nearestIds, wordsIn } from "./nearest.js";

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
