// What torch prints outside of its layout: warnings, old wordings, messages that are no breaks. The twin of registry/forms.py.

const LETTERS_AND_DIGITS = /[\p{L}\p{N}]/gu;
const MUCH = 1e6; // more than any form weighs
const MOST_SURFACES = 9;

export class Forms {
  #forms;
  #collapse;
  #distinctive;
  #informative;
  #anchor;
  #enough;
  #whole;
  #signs;

  constructor({ forms, messages, distinctive, informative, limits }, collapse) {
    this.#forms = forms.map(([marked, beside, short, isName, openStart, literals, gbIds, slug, gone, releases]) => ({
      marked: Boolean(marked),
      beside: Boolean(beside),
      short: Boolean(short),
      isName: Boolean(isName),
      openStart: Boolean(openStart),
      literals,
      weights: literals.map((literal) => literal.match(LETTERS_AND_DIGITS)?.length ?? 0),
      form: { gbIds, slug, gone, releases },
    }));
    this.surfaces = new Map(Object.entries(messages).map(([slug, { surface }]) => [slug, surface]));
    this.#signs = limits.compiler_signs;
    this.#collapse = collapse;
    this.#distinctive = distinctive;
    this.#informative = informative;
    this.#anchor = limits.anchor;
    this.#enough = limits.enough;
    this.#whole = limits.whole;
  }

  /** How far outside a form is that only wraps others; 0 for one that does not. */
  surfaceOf(form) {
    return this.surfaces.get(form?.slug) ?? 0;
  }

  /** Those that may be in a text; to be given to `find`. */
  within(text) {
    const whole = this.#collapse(text);
    const small = whole.toLowerCase();
    const isTorchs = this.#signs.some((sign) => small.includes(sign));
    const isIn = ({ marked, literals }) => (marked ? whole : small).includes(literals[0].slice(0, this.#anchor));
    return this.#forms.filter((one) => (isTorchs || !one.beside) && isIn(one));
  }

  /** The form that explains most of a text, and starts in its first line; one that wraps others comes last. */
  find(among, lines, { opening = "", afterMarker = false, unmarked = false } = {}) {
    const rest = lines.slice(1).map(this.#collapse).join("");
    const reason = this.#collapse(lines[0]).replace(/^['"([]+|['"]+$/g, "");
    const wholeLine = this.#collapse(opening) || reason;
    const anywhere = (wholeLine + rest).toLowerCase();
    let best = { rank: 0, form: null };
    for (const one of among) {
      if (one.marked && !(afterMarker || unmarked)) continue;
      const [text, first] = one.marked ? [reason + rest, reason.length] : [anywhere, wholeLine.length];
      const [whole, weight] = this.#weigh(one, text, first, afterMarker);
      const rank = weight && weight + (whole ? this.#whole : 0) + MUCH * (MOST_SURFACES - this.surfaceOf(one.form));
      if (rank > best.rank) best = { rank, form: one.form };
    }
    return best.form;
  }

  /** [whether all of a form is in the collapsed text, how much of that it explains]; the second is 0 for a misfit. */
  #weigh({ marked, short, isName, openStart, literals, weights }, text, firstLine, afterMarker) {
    if (short) return [true, afterMarker && text.slice(0, firstLine) === literals[0] ? weights[0] : 0];
    let atStart = marked && !openStart;
    if (atStart && !text.startsWith(literals[0])) {
      if (afterMarker || isName) return [false, 0];
      atStart = false;
    }
    let needed = this.#distinctive;
    if (marked) needed = afterMarker && atStart ? this.#informative : 2 * this.#distinctive;
    const ifCut = Math.max(needed, this.#distinctive);
    let at = 0;
    let explained = 0;
    let whole = true;
    for (const [number, literal] of literals.entries()) {
      let found = text.indexOf(literal, at);
      if (found < 0 && !marked) {
        found = this.#findStart(text, literal, at);
        whole = false;
      }
      if (found < 0 || (number === 0 && found >= firstLine)) return [false, atStart && explained >= ifCut ? explained : 0];
      at = whole ? found + literal.length : found;
      explained += whole ? weights[number] : Math.min(weights[number], this.#enough);
    }
    return [whole, explained >= needed ? explained : 0];
  }

  /** Where a long literal starts that is not whole: the text ends in it, or goes on in another release's words; or -1. */
  #findStart(text, literal, at) {
    const found = literal.length > this.#anchor ? text.indexOf(literal.slice(0, this.#anchor), at) : -1;
    if (found < 0) return -1;
    const isCut = literal.startsWith(text.slice(found));
    return isCut || text.startsWith(literal.slice(0, this.#enough), found) ? found : -1;
  }
}
