// The results of a search as DOM. Text from the data goes in as text, never as markup.

import { releaseRange, valuesOf } from "./filters.js";
import { highlight, whereFound } from "./snippets.js";

/** Make an element with classes and children; a string becomes text. */
export function element(name, className = "", ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** A button that does one thing. */
export function button(text, className, act) {
  const made = element("button", className, text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

/** One result: id and title as a link; kind, status and releases; where it was found if not in the title. */
export function resultItem(entry, words, table) {
  const spellings = words.flatMap((one) => one.spellings);
  const named = words.some((one) => one.id === entry.key);
  const id = element("span", "result-id", ...marked(entry.id, named ? [entry.key] : spellings));
  const link = element("a", "", id, " ", element("span", "result-title", ...marked(entry.title ?? "", spellings)));
  link.href = `gb/${entry.key}.html`;
  const item = element("li", "", link, facts(entry, table));
  const where = whereFound(entry, words);
  if (where) item.append(element("p", "result-where", `${where.place}: `, element("q", "", ...marked(where.text, spellings))));
  return item;
}

/** A message that is no graph break: its title as a link, and what it is. */
export function messageItem(entry, words) {
  const spellings = words.flatMap((one) => one.spellings);
  const link = element("a", "", ...marked(entry.title, spellings));
  link.href = `messages/${entry.key}.html`;
  return element("li", "", link, element("p", "result-where", ...marked(entry.lead.replaceAll("`", ""), spellings)));
}

function marked(text, spellings) {
  return highlight(text, spellings).map((part) => (part.marked ? element("mark", "", part.text) : part.text));
}

function facts(entry, table) {
  const status = valuesOf(entry, table.get("status"))[0] ?? "";
  return element(
    "p",
    "result-facts",
    element("span", `result-status status-${status}`, title(entry, table.get("status"))),
    element("span", "result-kind", title(entry, table.get("category"))),
    element("span", "result-releases", releaseRange(entry, table)),
  );
}

function title(entry, facet) {
  const value = valuesOf(entry, facet)[0];
  return facet.titles?.[facet.values.indexOf(value)] ?? value ?? "";
}

/** What to try when nothing was found: `take` is called with the way that the reader chose. */
export function emptyAdvice({ text, pairs }, ways, take) {
  const quoted = text.trim() ? [" for ", element("q", "", text.trim())] : [];
  const heading = element("p", "", "Nothing found", ...quoted, pairs.length ? " with these filters." : ".");
  const list = element("ul");
  for (const way of ways) list.append(element("li", "", button(wayWords(way), "way", () => take(way)), ` ${way.count} found`));
  const paste = element("a", "", "Paste it instead");
  paste.href = "paste.html";
  list.append(element("li", "", "Do you have a whole error or a log? ", paste, "."));
  return element("div", "empty", heading, list);
}

function wayWords(way) {
  if (way.drop) return way.drop.length === 1 ? `Without “${way.drop[0].words}”` : "Without any filter";
  return way.text ? `Search for “${way.text}”` : "Without the words, with these filters";
}
