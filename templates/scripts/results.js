// What a search shows: the rows of the page's own list, with the fix and the words that were found. Text from the data goes in as text, never as markup.

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

/** The rows of the plain list by the key of their id, as the page has them. */
export function rowsOf(list) {
  return new Map([...list.children].map((row) => [row.querySelector("a").textContent.toLowerCase(), row]));
}

/** Complete the row of an entry: how it is fixed, and the old title that was sought. */
export function completeRow(row, entry, words) {
  if (entry.fix && !row.querySelector(".row-fix")) {
    row.querySelector(".row-lead").after(element("span", "row-fix", element("strong", "", "Fix: "), entry.fix.replaceAll("`", "")));
  }
  row.querySelector(".row-old")?.remove();
  const isIn = (title) => (one) => one.counts && one.spellings.some((spelling) => title.toLowerCase().includes(spelling));
  const fit = (title) => words.filter(isIn(title)).length;
  const old = (entry.old ?? []).find((title) => fit(title) > fit(entry.title ?? ""));
  if (old) row.querySelector(".row-lead").before(element("span", "row-old", `Old title: ${old}`));
  return row;
}

/** Mark words in the rows that are shown; a browser that can't mark without changing the page marks nothing. */
export function markWords(rows, words) {
  if (!globalThis.CSS?.highlights) return;
  const spellings = [...new Set(words.filter((one) => one.counts ?? true).flatMap((one) => one.spellings))];
  CSS.highlights.set("found", new Highlight(...rows.flatMap((row) => rangesIn(row, spellings))));
}

function rangesIn(row, spellings) {
  const ranges = [];
  const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const lower = text.data.toLowerCase();
    if (lower.length !== text.data.length || text.parentElement.closest(".row-facts")) continue; // positions would not fit; facts are not searched
    for (const spelling of spellings) {
      for (let at = lower.indexOf(spelling); at >= 0; at = lower.indexOf(spelling, at + spelling.length)) {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + spelling.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}

/** A message that is no graph break: its title as a link, and what it is. */
export function messageItem(entry) {
  const link = element("a", "", entry.title);
  link.href = `messages/${entry.key}.html`;
  return element("li", "", link, element("p", "", entry.lead.replaceAll("`", "")));
}

/** What to try when nothing was found: `take` is called with the way that the reader chose. */
export function emptyAdvice({ text, pairs }, ways, take) {
  const quoted = text.trim() ? [" ", element("q", "", text.trim())] : [];
  const heading = element("p", "", "Nothing fits", ...quoted, pairs.length ? " with these filters." : ".");
  const list = element("ul");
  for (const way of ways) list.append(element("li", "", button(wayWords(way), "way", () => take(way)), ` ${way.count} found`));
  const kinds = element("a", "", "Look through the kinds of breaks");
  kinds.href = "categories.html";
  list.append(element("li", "", "Do you have the whole error, or a log? Paste it into the box."), element("li", "", kinds, "."));
  return element("div", "empty", heading, list);
}

function wayWords(way) {
  if (way.drop) return way.drop.length === 1 ? `Without “${way.drop[0].words}”` : "Without any filter";
  return "Without the words, with these filters";
}
