// What torch prints outside of its layout: warnings, old wordings, messages that are no breaks. The twin of registry/forms.py.

const LETTERS_AND_DIGITS = /[\p{L}\p{N}]/gu;
const MUCH = 1e6; // more than any form weighs

export class Forms {
  #forms;
  #collapse;
  #distinctive;
  #informative;

  constructor({ forms, messages, distinctive, informative }, collapse) {
    this.#forms = forms.map(([marked, ends, literals, gbIds, slug, gone, releases]) => ({
      marked: Boolean(marked),
      ends,
      literals,
      weights: literals.map((literal) => literal.match(LETTERS_AND_DIGITS)?.length ?? 0),
      form: { gbIds, slug, gone, releases },
    }));
    this.surfaces = new Set(Object.keys(messages).filter((slug) => messages[slug].surface));
    this.#collapse = collapse;
    this.#distinctive = distinctive;
    this.#informative = informative;
  }

  /** Those that may be in a collapsed text; to be given to `find`. */
  within(text) {
    return this.#forms.filter(({ literals }) => text.includes(literals[0]));
  }

  /** The form that explains most of a text, and starts in its first line; one that wraps others comes last. */
  find(lines, { opening = "", afterMarker = false, among = this.#forms } = {}) {
    const rest = lines.slice(1).map(this.#collapse).join("");
    const reason = this.#collapse(lines[0]).replace(/^['"([]+|['"]+$/g, "");
    const wholeLine = this.#collapse(opening) || reason;
    let best = { rank: 0, form: null };
    for (const one of among) {
      const first = one.marked ? reason : wholeLine;
      const [whole, weight] = this.#weigh(one, first + rest, first.length, afterMarker);
      const rank = weight && weight + (whole ? MUCH : 0) + (this.surfaces.has(one.form.slug) ? 0 : 2 * MUCH);
      if (rank > best.rank) best = { rank, form: one.form };
    }
    return best.form;
  }

  /** [whether all of a form is in the collapsed text, how much of that it explains]; the second is 0 if it does not fit. */
  #weigh({ marked, ends, literals, weights }, text, firstLine, afterMarker) {
    const exact = literals.length === 1 && !ends;
    if (exact && weights[0] < this.#distinctive) {
      return [true, afterMarker && text.slice(0, firstLine) === literals[0] ? weights[0] : 0];
    }
    const atStart = marked && !ends.includes("<");
    if (atStart && !text.startsWith(literals[0])) return [false, 0];
    let at = 0;
    let explained = 0;
    for (const [number, literal] of literals.entries()) {
      at = text.indexOf(literal, at);
      if (at < 0 || (number === 0 && at >= firstLine)) return [false, atStart && explained >= this.#distinctive ? explained : 0];
      at += literal.length;
      explained += weights[number];
    }
    let needed = this.#distinctive;
    if (marked) needed = afterMarker && atStart ? this.#informative : 2 * this.#distinctive;
    return [true, explained >= needed ? explained : 0];
  }
}
