// What to try when nothing was found. Pure.

import { passesAll } from "./filters.js";
import { fold, search, vocabulary } from "./search.js";
import { nearestWord } from "./typos.js";

/** Up to three ways out, as {drop: filters to leave out} or {text: another spelling}, each with the count it would give. */
export function advise(index, text, filters) {
  const count = (words, kept) => search(index, words, passesAll(kept)).entries.length;
  const ways = [];
  const single = filters.map((one) => ({ drop: [one], count: count(text, filters.filter((other) => other !== one)) }));
  single.sort((one, other) => other.count - one.count);
  if (single[0]?.count) ways.push(single[0]);
  else if (filters.length > 1) ways.push({ drop: filters, count: count(text, []) });
  const respelt = nearestSpelling(index, text);
  if (respelt) ways.push({ text: respelt, count: count(respelt, filters) });
  if (text.trim() && filters.length) ways.push({ text: "", count: count("", filters) });
  return ways.filter((way) => way.count);
}

function nearestSpelling(index, text) {
  const words = fold(text).split(/\s+/).filter(Boolean);
  const occurs = (word) => index.entries.some((entry) => entry.all.includes(word));
  const respelt = words.map((word) => (occurs(word) ? word : (nearestWord(word, vocabulary(index)) ?? word)));
  return respelt.join(" ") === words.join(" ") ? null : respelt.join(" ");
}
