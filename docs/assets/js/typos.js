// Small mistakes in a word: what it was meant to be. Pure.

const SHORTEST = 5; // letters: in a shorter word, one change makes another word

/** Every word of the texts, once. */
export function vocabularyOf(texts) {
  const words = new Set();
  for (const text of texts) for (const word of text.match(/[\p{L}\p{N}]+/gu) ?? []) if (word.length > 3) words.add(word);
  return words;
}

/** Words, or the beginnings of words, one change away from what was typed; [] for a word that is too short. */
export function nearWords(word, vocabulary) {
  if (word.length < SHORTEST) return [];
  const near = new Set();
  for (const other of vocabulary) {
    const beginnings = [other, other.slice(0, word.length), other.slice(0, word.length + 1)];
    const meant = beginnings.find((beginning) => isOneEdit(word, beginning));
    if (meant) near.add(meant);
  }
  return [...near];
}

/** Whether one letter added, left out or changed, or two neighbours swapped, makes one word of the other. */
export function isOneEdit(one, other) {
  if (one === other || Math.abs(one.length - other.length) > 1) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  if (one.length < other.length) return one.slice(at) === other.slice(at + 1);
  if (one.length > other.length) return one.slice(at + 1) === other.slice(at);
  const swapped = one[at] === other[at + 1] && one[at + 1] === other[at] && one.slice(at + 2) === other.slice(at + 2);
  return swapped || one.slice(at + 1) === other.slice(at + 1);
}

/** The word of the vocabulary that is nearest to what was typed, at most `most` changes away; null if none is. */
export function nearestWord(word, vocabulary, most = 2) {
  let best = null;
  let least = Math.min(most, Math.floor(word.length / 3)) + 1;
  for (const other of vocabulary) {
    if (other === word || Math.abs(other.length - word.length) >= least) continue;
    const distance = edits(word, other);
    if (distance < least) [best, least] = [other, distance];
  }
  return best;
}

/** How many letters to add, leave out or change. */
export function edits(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[other.length];
}
