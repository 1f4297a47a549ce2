// From the text of a message, or of a whole log, to its ids. The twin of registry/matching.py, without the release; a
// test holds the two to the same answers. Pure: no DOM, Node runs it too.

import { compileLayout, findDrafts, makeMessage, readLine, strip, stripMarkers, unlabelled } from "./messages.js";

const REMEMBERED = 256;

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
  }

  /** Name one message (an exception's text, one log record); null only for a blank text. */
  matchMessage(text) {
    if (!strip(text)) return null;
    for (const draft of findDrafts(text, this.#layout)) {
      const match = this.#name(draft);
      return { ...match, message: { ...match.message, text } };
    }
    return this.#nameUnlabelled(text);
  }

  /** Name every message in a log; chained breaks come as one, with its causes. */
  *findMessages(text) {
    for (const draft of findDrafts(text, this.#layout)) {
      const match = this.#name(draft);
      if (draft.certain || match.gbIds.length) yield match;
    }
  }

  /** The ids that have, or once had, this gb_type: likeliest first. */
  idsOfType(gbType) {
    return [...this.#matching("type", this.#collapse(gbType)).keys()];
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
      if (!fitting.length) fitting = [...explained.keys()];
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
    return match;
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

  /** No layout to go by: a line that is a gb_type, else the whole as an explanation or a context. */
  #nameUnlabelled(text) {
    const bodies = text.split("\n").map((line) => readLine(line, this.#layout)[1]);
    for (const [at, body] of bodies.entries()) {
      const gbType = stripMarkers(body, this.#layout);
      const gbIds = this.idsOfType(gbType);
      if (gbIds.length) return { gbIds, how: "type", message: makeMessage({ gbType, text }), line: at + 1, causes: [] };
    }
    const whole = bodies.join("\n");
    const explained = this.idsOfWording(whole);
    const gbIds = explained.length ? explained : this.idsOfWording("", whole);
    if (!gbIds.length) return { gbIds, how: "none", message: unlabelled(text, this.#layout), line: 1, causes: [] };
    const field = explained.length ? "explanation" : "context";
    return { gbIds, how: "wording", message: makeMessage({ [field]: strip(whole), text }), line: 1, causes: [] };
  }

  #collapse(text) {
    return text.replace(this.#layout.space, " ").replace(/^ | $/g, "");
  }
}
