// Small mistakes in a word. Pure.

const SHORTEST = 5; // letters: in a shorter word, one change makes another word

/** Whether one letter added, left out or changed, or two neighbours swapped, makes one word of the other. */
export function isOneEdit(one, other) {
  if (one.length < SHORTEST || one === other || Math.abs(one.length - other.length) > 1) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  if (one.length < other.length) return one.slice(at) === other.slice(at + 1);
  if (one.length > other.length) return one.slice(at + 1) === other.slice(at);
  const swapped = one[at] === other[at + 1] && one[at + 1] === other[at] && one.slice(at + 2) === other.slice(at + 2);
  return swapped || one.slice(at + 1) === other.slice(at + 1);
}
