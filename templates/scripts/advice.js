// What to try when nothing was found. Pure.

import { passesAll } from "./filters.js";
import { search } from "./search.js";

/** Up to two ways out, as {drop: filters to leave out} or {text: other words}, each with the count it would give. */
export function advise(index, text, filters) {
  const count = (words, kept) => search(index, words, passesAll(kept)).whole;
  const ways = [];
  const single = filters.map((one) => ({ drop: [one], count: count(text, filters.filter((other) => other !== one)) }));
  single.sort((one, other) => other.count - one.count);
  if (single[0]?.count) ways.push(single[0]);
  else if (filters.length > 1) ways.push({ drop: filters, count: count(text, []) });
  if (text.trim() && filters.length) ways.push({ text: "", count: count("", filters) });
  return ways.filter((way) => way.count);
}
