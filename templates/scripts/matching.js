// From the text of a message, or of a whole log, to its ids. The twin of registry/matching.py, without the release; a
// test holds the two to the same answers. Pure: no DOM, Node runs it too.

import { Forms } from "./forms.js";
import {
  compileLayout,
  findDrafts,
  isMarked,
  lengthOf,
  makeMessage,
  readLine,
  splitWords,
  strip,
  stripAll,
  stripEnd,
  unlabelled,
  wordsOf,
} from "./messages.js";

const REMEMBERED = 256;
const UNKNOWN = { gbIds: [], how: "none", message: makeMessage({}), line: 1, causes: [] };

/** A registry text as the literals between its placeholders. */
class Template {
  constructor(ends, weight, literals) {
    this.openStart = ends.includes("<");
    this.openEnd = ends.includes(">");
    this.weight = weight; // how much it says: letters and digits outside placeholders
    this.literals = literals;
  }

  get exact() {
    return this.literals.length === 1 && !this.openStart && !this.openEnd;
  }

  /** Whether `text`, collapsed, is this template with its placeholders filled; each literal is sought once. */
  matches(text) {
    const { literals } = this;
    const last = literals.length - 1;
    if (this.exact) return text === literals[0];
    if (!this.openStart && !text.startsWith(literals[0])) return false;
    if (!this.openEnd && !text.endsWith(literals[last])) return false;
    let at = this.openStart ? 0 : literals[0].length;
    const end = this.openEnd ? text.length : text.length - literals[last].length;
    for (let next = this.openStart ? 0 : 1; next <= (this.openEnd ? last : last - 1); next++) {
      at = text.indexOf(literals[next], at);
      if (at < 0) return false;
      at += literals[next].length;
      if (at > end) return false;
    }
    return at <= end;
  }
}

/** Names the break in a text; built once from wordings.json, never changed. */
export class Matcher {
  #layout;
  #distinctive;
  #rank;
  #silent;
  #unregistered;
  #exact = { type: new Map(), explanation: new Map(), context: new Map() };
  #open = { type: [], explanation: [], context: [] };
  #recent = new Map();
  #lines;
  #forms;
  #limits;
  #libraries;
  #quoted;
  #frames;
  #warnings;

  constructor(wordings) {
    this.#layout = compileLayout(wordings.layout);
    this.#distinctive = wordings.distinctive;
    this.#rank = new Map(wordings.breaks.map(([gbId], rank) => [gbId, rank]));
    this.#silent = { explanation: new Set(wordings.silent.explanation), context: new Set(wordings.silent.context) };
    this.#unregistered = new Set(wordings.unregistered);
    for (const [kind, ends, weight, gbIds, literals] of wordings.wordings) {
      const wording = { template: new Template(ends, weight, literals), gbIds };
      if (wording.template.exact) this.#exact[kind].set(literals[0], wording);
      else this.#open[kind].push(wording);
    }
    this.#lines = wordings.lines.map(([ends, weight, gbIds, literals]) => ({ template: new Template(ends, weight, literals), gbIds }));
    this.#forms = new Forms(wordings, (text) => this.#collapse(text));
    this.#limits = wordings.limits;
    this.#libraries = new RegExp(wordings.limits.libraries, "u");
    this.#quoted = new RegExp(wordings.limits.quoted, "gu");
    this.#frames = wordings.frames;
    this.#warnings = new Set(Object.keys(wordings.messages).filter((slug) => wordings.messages[slug].warning));
  }


  /** Name one message (an exception's text, one log record); null only for a blank text. */
  matchMessage(text) {
    if (!strip(text)) return null;
    const match = this.findMessages(text).next().value ?? this.nameLines(text)[0];
    if (match) return { ...match, message: { ...match.message, text } };
    return { ...UNKNOWN, message: unlabelled(text, this.#layout) };
  }

  /** Name everything in a text: messages in torch's layout, forms, and in a short text single lines, too. */
  nameText(text) {
    const found = [...this.#findCauses(this.#complete([...this.findMessages(text)], text))];
    // a warning about a break that is reported, too, is no second one
    const reported = new Set(found.filter(({ form }) => !form).map(({ gbIds }) => gbIds[0]));
    return found.filter(({ form, gbIds }) => !form || !gbIds.some((gbId) => reported.has(gbId)));
  }

  /** Add to what was found in a short text what has none of torch's layout; in the order of the text. */
  #complete(found, text) {
    if (lengthOf(text) > this.#limits.short) return found;
    if (!found.some(isNamed)) return [...found, ...this.nameLines(text)];
    // other forms: a warning stands before the error that ended the program
    const known = new Set(found.map(nameOf));
    const [lines, bodies, records] = this.#linesOf(text);
    const isWithin = ({ line }) => found.some(({ message }) => message.text.includes(strip(lines[line - 1])));
    const forms = [...this.#findForms(lines, bodies, records, { reasons: false })];
    let apart = forms.filter((match) => !known.has(nameOf(match)) && !isWithin(match));
    const isTold = (match) => isNamed(match) && !this.#warnings.has(match.form?.slug);
    if (!apart.length && !found.some(isTold)) apart = [...this.#findEnd(lines)];
    return [...found, ...apart].sort((one, other) => one.line - other.line);
  }

  /** [the lines of a text without loggers' prefixes, the same without markers and labels, the prefixes]. */
  #linesOf(text) {
    const raw = text.split("\n");
    // pytest lists the source around the line that raised: texts in it were not printed
    const { pytest, literal } = this.#layout;
    const listed = raw.some((line) => pytest.test(line));
    const read = raw.map((line) => (listed && literal.test(line) ? ["", ""] : readLine(line, this.#layout)));
    const lines = read.map(([, line]) => line);
    return [lines, lines.map((line) => wordsOf(line, this.#layout)), read.map(([record]) => record)];
  }

  /** Name every message in a log; chained breaks come as one, with its causes. */
  *findMessages(text) {
    for (const draft of findDrafts(text, this.#layout)) {
      const match = this.#name(draft);
      if (draft.certain || isNamed(match)) yield match;
    }
  }

  /** The ids that have, or once had, this gb_type: likeliest first. */
  idsOfType(gbType) {
    const title = this.#collapse(gbType);
    const found = [...this.#matching("type", title).keys()];
    const bare = stripAll(title, this.#limits.around_titles);
    return found.length || bare === title ? found : [...this.#matching("type", bare).keys()];
  }

  /** The ids whose explanation, and context if there is one, reads like this with its placeholders filled. */
  idsOfWording(explanation, context = "") {
    const fields = [this.#collapse(explanation), this.#collapse(context)];
    const key = fields.join("\0");
    let found = this.#recent.get(key);
    if (!found) {
      found = this.#findWording(...fields);
      this.#recent.set(key, found);
      if (this.#recent.size > REMEMBERED) this.#recent.delete(this.#recent.keys().next().value);
    }
    return found;
  }

  #findWording(explanation, context) {
    const explained = this.#matching("explanation", explanation);
    const inContext = this.#matching("context", context);
    if ([...explained.values()].some((weight) => weight >= this.#distinctive)) {
      let fitting = [...explained.keys()].filter((gbId) => inContext.has(gbId) || this.#silent.context.has(gbId));
      if (!fitting.length || !context) fitting = [...explained.keys()]; // a context that was cut off says nothing
      return this.#sorted(fitting, inContext, explained);
    }
    let distinctive = [...inContext.keys()].filter((gbId) => inContext.get(gbId) >= this.#distinctive);
    if (explanation) {
      // an explanation that was there, and was none of theirs, speaks against those that have a known one
      distinctive = distinctive.filter((gbId) => this.#silent.explanation.has(gbId) || explained.has(gbId));
    }
    return this.#sorted(distinctive, explained, inContext);
  }

  /** gb_id -> weight of the best template of that kind that fits. */
  #matching(kind, text) {
    const best = new Map();
    if (!text) return best;
    const take = (wording) => {
      for (const gbId of wording.gbIds) best.set(gbId, Math.max(best.get(gbId) ?? 0, wording.template.weight));
    };
    const exact = this.#exact[kind].get(text);
    if (exact) take(exact);
    for (const wording of this.#open[kind]) if (wording.template.matches(text)) take(wording);
    return best;
  }

  /** Those in `preferred` first, then the weightiest, then by standing. */
  #sorted(gbIds, preferred, weights) {
    return gbIds.sort(
      (one, other) =>
        preferred.has(other) - preferred.has(one) ||
        weights.get(other) - weights.get(one) ||
        this.#rank.get(one) - this.#rank.get(other),
    );
  }

  #name(draft) {
    const causes = draft.message.causes.map((cause) => this.#nameParsed(cause, draft.line));
    const match = { ...this.#nameParsed(draft.message, draft.line), causes };
    if (match.how !== "none" || draft.fields.length) return match;
    // "Graph Break Reason: Encountered graph break when …:", then the type, then a log that was cut off
    for (const text of draft.bodies) {
      const gbIds = this.idsOfType(text);
      if (gbIds.length) return { ...match, gbIds, how: "type", message: { ...match.message, gbType: strip(text) } };
    }
    const lines = [draft.message.gbType, ...draft.bodies];
    const known = this.#forms.within([draft.opening, ...lines].join(""));
    const first = this.#forms.find(known, lines, { opening: draft.opening, afterMarker: draft.marked });
    const others = lines.slice(1).map((_, at) => this.#forms.find(known, lines.slice(at + 1)));
    const forms = [first, ...others].filter(Boolean);
    // an exception that wraps another has the other's text in its next lines
    const form = forms.sort((one, other) => this.#forms.surfaceOf(one) - this.#forms.surfaceOf(other))[0];
    return form ? this.#byForm(form, lines, match) : match;
  }

  #nameParsed(message, line) {
    const match = { gbIds: [], how: "none", message, line, causes: [] };
    if (message.link) return { ...match, gbIds: [message.link], how: "link" };
    const typed = this.idsOfType(message.gbType);
    if (typed.length) return { ...match, gbIds: typed, how: "type" };
    if (this.#unregistered.has(this.#collapse(message.gbType))) return match;
    const worded = this.idsOfWording(message.explanation, message.context);
    return worded.length ? { ...match, gbIds: worded, how: "wording" } : match;
  }

  /** Name what is in a short text without torch's layout: forms, titles, an explanation, lines, old reasons; the first that is there. */
  nameLines(text) {
    if (lengthOf(text) > this.#limits.short) return [];
    const [lines, bodies, records] = this.#linesOf(text);
    for (const find of [
      () => this.#findForms(lines, bodies, records),
      () => this.#findTitles(bodies),
      () => this.#findExplanation(bodies.join("\n")),
      () => this.#findLines(bodies),
      () => this.#findForms(lines, bodies, records, { unmarked: true }),
      () => this.#findEnd(lines),
    ]) {
      const found = [...find()];
      if (found.length) return found;
    }
    return [];
  }

  /** Forms, each once. The reasons of breaks are left out, or taken after a marker, or without one, too. The logger's
      header is part of the first line: it may tell what an error's text alone does not. */
  *#findForms(lines, bodies, records, { reasons = true, unmarked = false } = {}) {
    const seen = new Set();
    const openings = lines.map((line, number) => records[number] + line);
    const among = this.#forms.within(openings.join(""));
    for (const [number, line] of lines.entries()) {
      if (!strip(line)) continue;
      const window = bodies.slice(number, number + 1 + this.#layout.foreign_lines);
      const afterMarker = reasons && isMarked(line, this.#layout);
      const form = this.#forms.find(among, window, { opening: openings[number], afterMarker, unmarked });
      const key = form && [form.gbIds.join(), form.slug, form.gone].join("|");
      if (!form || seen.has(key)) continue;
      seen.add(key);
      yield this.#byForm(form, window, { ...UNKNOWN, line: number + 1 });
    }
  }

  /** The part of torch in which a traceback ends whose last line was cut off, or says nothing. */
  *#findEnd(lines) {
    const frames = [];
    for (const [number, line] of lines.entries()) {
      const path = this.#layout.frame.exec(line)?.[1];
      if (path !== undefined) frames.push([number, path.replaceAll("\\", "/")]);
    }
    if (!frames.length || !this.#libraries.test(frames.at(-1)[1])) return;
    for (const [number, path] of frames.reverse()) {
      const slug = this.#frames.find(([part]) => path.includes(part))?.[1];
      if (!slug) continue;
      yield this.#byForm({ gbIds: [], slug, gone: "", releases: "" }, lines.slice(number), { ...UNKNOWN, line: number + 1 });
      return;
    }
  }

  /** Lines that are a title, which may be wrapped, and titles in quotes. */
  *#findTitles(bodies) {
    const seen = new Set();
    const alone = bodies.filter(Boolean).length === 1;
    for (const [number, body] of bodies.entries()) {
      const quoted = Array.from(body.matchAll(this.#quoted), (found) => found[1]);
      for (const title of body ? [body, bodies.slice(number, number + 2).join("\n"), ...quoted] : []) {
        const gbIds = this.idsOfType(title);
        if (!gbIds.length || seen.has(gbIds.join()) || !(alone || lengthOf(this.#collapse(title)) >= this.#distinctive)) continue;
        seen.add(gbIds.join());
        yield { ...UNKNOWN, gbIds, how: "type", message: makeMessage({ gbType: splitWords(title).join(" "), text: title }), line: number + 1 };
      }
    }
  }

  *#findExplanation(text) {
    if (strip(text).split("\n").length > this.#limits.whole_lines) return;
    for (const field of ["explanation", "context"]) {
      const message = makeMessage({ [field]: strip(text), text });
      const gbIds = this.idsOfWording(message.explanation, message.context);
      if (gbIds.length && gbIds.length <= this.#limits.most_candidates) {
        yield { ...UNKNOWN, gbIds, how: "wording", message };
        return;
      }
    }
  }

  /** Lines of explanations, contexts and hints, which are taken to be of one message: what fits all stays. */
  *#findLines(bodies) {
    let fitting = new Set();
    const found = [];
    const whole = this.#collapse(bodies.join(""));
    const lines = this.#lines.filter(({ template }) => whole.includes(template.literals[0]));
    for (const body of bodies) {
      const text = this.#collapse(body);
      const owners = new Set(lines.filter(({ template }) => template.matches(text)).flatMap(({ gbIds }) => gbIds));
      const isShared = this.#limits.shared_hints.some((hint) => body.startsWith(hint));
      if (owners.size || isShared) found.push(body);
      if (owners.size && !isShared) {
        const both = new Set([...fitting].filter((gbId) => owners.has(gbId)));
        fitting = both.size ? both : fitting.size && fitting.size <= owners.size ? fitting : owners;
      }
    }
    const message = makeMessage({ text: found.join("\n") });
    if (fitting.size && fitting.size <= this.#limits.most_candidates) {
      const gbIds = [...fitting].sort((one, other) => this.#rank.get(one) - this.#rank.get(other));
      yield { ...UNKNOWN, gbIds, how: "wording", message };
    } else if (found.length) {
      yield { ...UNKNOWN, how: "shared", message };
    }
  }

  /** Leave out a message that only wraps another one, if that one is near it. */
  *#findCauses(matches) {
    const { chained_lines: chained, cause_after: causeAfter } = this.#limits;
    let held = null;
    let last = { line: -chained, surface: 0 }; // of the last match that stays
    const keep = (match) => {
      last = { line: match.line, surface: this.#forms.surfaceOf(match.form) };
      return match;
    };
    for (const match of matches) {
      if (!isNamed(match) || this.#warnings.has(match.form?.slug)) {
        yield match;
        continue;
      }
      const surface = this.#forms.surfaceOf(match.form);
      const before = held;
      held = null;
      const isCause = before && surface < this.#forms.surfaceOf(before.form) && match.line - before.line <= causeAfter;
      if (before && !isCause) yield keep(before);
      if (surface && last.surface < surface && match.line - last.line < chained) continue;
      if (surface) held = match;
      else yield keep(match);
    }
    if (held) yield held;
  }

  #byForm(form, lines, match) {
    const message = { ...match.message, gbType: "", text: stripEnd(lines.join("\n")) };
    const recompiled = this.#layout.recompiled.exec(lines[0]);
    if (recompiled) {
      [, message.function, message.location] = recompiled;
      message.context = lines.slice(1).map((line) => this.#layout.guard.exec(line)?.[1]).find(Boolean) ?? "";
    }
    return { ...match, gbIds: form.gbIds, how: "form", form, message };
  }

  #collapse(text) {
    return text.replace(this.#layout.space, "");
  }
}

function isNamed({ gbIds, form }) {
  return gbIds.length > 0 || form !== undefined;
}

function nameOf({ gbIds, form }) {
  return gbIds[0] ?? (form && `${form.slug}|${form.gone}`);
}
