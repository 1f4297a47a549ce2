// On the page for addresses that lead nowhere: what was probably meant. Nobody is sent anywhere by themselves.

import { idIn, nearestIds, wordsIn } from "./nearest.js";

const root = new URL("../../", import.meta.url);
const id = idIn(location.pathname);

if (id) {
  const titles = await titlesById();
  if (titles) show(...(id in titles ? meant(id, titles) : close(id, titles)));
} else {
  const words = wordsIn(location.pathname, root.pathname);
  if (words) show(...search(words));
}

async function titlesById() {
  try {
    const answer = await fetch(new URL("assets/data/ids.json", root));
    return answer.ok ? await answer.json() : null;
  } catch {
    return null; // no network: the page says how addresses look, and that has to do
  }
}

function meant(id, titles) {
  return [element("h2", "Did you mean"), list([id], titles)];
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
    link.href = new URL(`gb/${one.toLowerCase()}.html`, root);
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
