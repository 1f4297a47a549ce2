// Joined by generate_site.py from templates/scripts: change the modules there.
(self.graphBreaks ??= {})["js/log-reader"] = (() => {
"use strict";
const modules = {};

modules["answers"] = (() => {
// What to try for a message: the fixes that are right for what it names. The twin of registry/advice.py and fits.py. Pure.

/** {why, fixes, counsels, misfit, isolated, noFix} for an id and a message that has it; null for an id without an entry. */
function adviseFor({ ways_out: waysOut, answers }, gbId, message) {
  if (!answers[gbId]) return null;
  const { why = "", category, no_fix: noFix = "", fixes = [], isolated = [], fits, tested = [] } = answers[gbId];
  const advice = { why, noFix, isolated, fixes, counsels: [], misfit: "" };
  const subject = fits ? findSubject(fits, message) : "";
  if (!subject) return advice;
  const globsOf = ({ name }) => fits.fixes[name] ?? ["*"];
  advice.fixes = fixes.filter((fix) => isOneOf(subject, globsOf(fix)));
  const isToAll = ({ globs }) => globs.join() === "*";
  advice.counsels = fits.counsels.filter(({ globs }) => isOneOf(subject, globs)).slice(0, 1);
  if (advice.fixes.length && advice.counsels.some(isToAll)) advice.counsels = []; // for those who have no fix
  const isForOthers = fixes.some(({ name }) => fits.fixes[name]?.length) && !advice.fixes.length;
  if (isForOthers && !tested.includes(subject) && !advice.counsels.some(({ proven }) => proven)) {
    advice.misfit = `No tested fix for your \`${subject}\`.`;
    if (!advice.counsels.length && waysOut[category]) advice.counsels = [{ text: waysOut[category] }];
  }
  return advice;
}

function findSubject({ names }, message) {
  for (const name of names) {
    const found = new RegExp(name).exec(message);
    if (found) return found[1].trim();
  }
  return "";
}

/** Whether a glob stands for the whole name; `*` stands for any text. */
function isOneOf(name, globs) {
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return globs.some((glob) => new RegExp(`^${glob.split("*").map(escaped).join("[^]*")}$`).test(name));
}

return { adviseFor };
})();

modules["log-report"] = (() => {
// What a log says, added up: each break once, with its count and places. Pure: no DOM, Node runs it too.

const { adviseFor } = modules["answers"];

const EXCERPT = 4_000;

/** Name everything in `text`; `wordings` is what the matcher was built from, `answers` what is known of each id, `torch` the reader's. */
function makeReport(text, matcher, wordings, answers, torch = "") {
  const at = Math.max(0, wordings.releases.indexOf(torch));
  const keys = Object.keys(wordings.statuses);
  const known = new Map(
    wordings.breaks.map(([gbId, title, statuses]) => [gbId, { title, status: keys[statuses[at]], torch: wordings.releases[at] }]),
  );
  const groups = new Map();
  let messages = 0;
  let shared = false;
  for (const match of matcher.nameText(text)) {
    if (match.how === "shared") {
      shared = true;
      continue;
    }
    messages++;
    addMatch(groups, match);
  }
  const found = [...groups.values()].sort((one, other) => other.count - one.count || one.line - other.line);
  const isOther = ({ form }) => Boolean(form?.slug);
  const isKnown = (group) => group.steps.some((step) => step.gbIds.length) || Boolean(group.form?.gone);
  const describe = (group) => describeBreak(group, known, wordings.statuses, answers);
  return {
    lines: countLines(text),
    messages,
    shared,
    breaks: found.filter((group) => !isOther(group) && isKnown(group)).map(describe),
    others: found.filter(isOther).map((group) => describeOther(group, wordings.messages)),
    unknown: found.filter((group) => !isOther(group) && !isKnown(group)).map(describeUnknown),
  };
}

/** Causes first, then what they surfaced as: messages are the same break if every step is. */
function addMatch(groups, match) {
  const chain = [...match.causes, match];
  const key = chain.length === 1 ? keyOf(match) : chain.map(keyOf).join(">");
  let group = groups.get(key);
  if (!group) {
    const steps = chain.map(({ gbIds, message }) => ({ gbIds, text: message.text, hows: new Map() }));
    group = { steps, form: match.form, count: 0, line: match.line, places: new Map(), source: match.message.source, guards: new Map() };
    groups.set(key, group);
  }
  group.count++;
  group.line = Math.min(group.line, match.line);
  for (const [at, step] of chain.entries()) increase(group.steps[at].hows, step.how);
  const { function: name, location, context } = match.message;
  if (match.form?.slug && context) increase(group.guards, `${name} (${location}): ${context}`);
  else if (location) increase(group.places, location);
}

function keyOf({ gbIds, form, message }) {
  if (form?.slug) return form.slug;
  return gbIds.length ? gbIds.join() : `?${message.text}`;
}

function increase(counts, key) {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function describeBreak({ steps, form, count, line, places, source }, known, statuses, answers) {
  const cause = steps.find((step) => step.gbIds.length);
  return {
    steps: steps.map((step) => describeStep(step, known, statuses)),
    count,
    line,
    places: mostFrequent(places),
    source,
    gone: form?.gone ?? "",
    wordedBy: form?.releases ?? "",
    advice: cause ? adviseFor(answers, cause.gbIds[0], cause.text) : null,
  };
}

/** A message of torch's that is no graph break. */
function describeOther({ steps, form, count, line, places, guards }, messages) {
  const { title, short, way_out: wayOut, page } = messages[form.slug];
  // of recompiles: each function, and the guard that failed
  const again = mostFrequent(guards).map((one) => `${one.count}× ${one.place}`);
  const text = again.length ? again.join("\n") : steps[0].text;
  return { title, short, wayOut, page, text: text.slice(0, EXCERPT), count, line, places: mostFrequent(places) };
}

function describeStep({ gbIds, text, hows }, known, statuses) {
  const candidates = gbIds.map((gbId) => {
    const one = known.get(gbId);
    if (!one) return { gbId, title: "", status: "", statusName: "", page: "" };
    return { gbId, ...one, statusName: statuses[one.status] ?? one.status, page: `gb/${gbId.toLowerCase()}.html` };
  });
  // a line may hold megabytes and the links of many breaks: it must not be copied for each
  return { candidates, hows: Object.fromEntries(hows), text: gbIds.length ? text.slice(0, EXCERPT) : text };
}

function describeUnknown({ steps, count, line, places }) {
  return { text: steps.map((step) => step.text).join("\n\n"), count, line, places: mostFrequent(places) };
}

function mostFrequent(places) {
  return Array.from(places, ([place, count]) => ({ place, count })).sort((one, other) => other.count - one.count);
}

function countLines(text) {
  let lines = text && !text.endsWith("\n") ? 1 : 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

return { makeReport };
})();

modules["forms"] = (() => {
// What torch prints outside of its layout: warnings, old wordings, messages that are no breaks. The twin of registry/forms.py.

const LETTERS_AND_DIGITS = /[\p{L}\p{N}]/gu;
const MUCH = 1e6; // more than any form weighs
const MOST_SURFACES = 9;

class Forms {
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

return { Forms };
})();

modules["messages"] = (() => {
// Messages in text: cut them out of a log, and take one apart as torch puts it together. The twin of
// registry/messages.py and message_layout.py, step for step; a test holds them to the same answers. Pure: no DOM, Node runs it.

/** Torch's layout, from wordings.json: the expressions and words themselves are written once, in Python. */
function compileLayout(layout) {
  const { expressions, flags } = layout;
  const compiled = Object.entries(expressions).map(([name, source]) => [name, new RegExp(source, flags[name])]);
  return { ...layout, ...Object.fromEntries(compiled) };
}

const NOTHING = {
  gbType: "",
  explanation: "",
  hints: [],
  context: "",
  link: "",
  higherOrderOperator: "",
  location: "",
  function: "",
  source: "",
  text: "",
  causes: [],
};

function makeMessage(parts) {
  return { ...NOTHING, ...parts };
}

// --- white space, as Python sees it: `trim` would take a byte order mark and leave a file separator ------------------

function isSpace(code) {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13) || (code >= 28 && code <= 31);
  return (
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

function indentOf(text) {
  let at = 0;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  return at;
}

function endOf(text) {
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
  return end;
}

function strip(text) {
  const end = endOf(text);
  return end === 0 ? "" : text.slice(indentOf(text), end);
}

function stripEnd(text) {
  return text.slice(0, endOf(text));
}

/** The words of a text, as Python's `split` finds them. */
function splitWords(text) {
  const words = [];
  for (let at = 0; at < text.length; ) {
    const start = at + indentOf(text.slice(at));
    at = start;
    while (at < text.length && !isSpace(text.charCodeAt(at))) at++;
    if (at > start) words.push(text.slice(start, at));
  }
  return words;
}

/** How many characters Python counts. */
function lengthOf(text) {
  return PAIR.test(text) ? Array.from(text).length : text.length;
}

function stripAll(text, characters) {
  let start = 0;
  let end = text.length;
  while (end > start && characters.includes(text[end - 1])) end--;
  while (start < end && characters.includes(text[start])) start++;
  return text.slice(start, end);
}

function withoutLineEnd(line) {
  let end = line.length;
  while (end > 0 && (line[end - 1] === "\r" || line[end - 1] === "\n")) end--;
  return line.slice(0, end);
}

const PAIR = /[\ud800-\udbff]/;

/** The first so many characters; Python counts one where JavaScript counts the halves of a pair. */
function firstCharacters(text, count, hasPairs = PAIR.test(text.slice(0, count))) {
  if (text.length <= count || !hasPairs) return text.slice(0, count);
  let end = 0;
  for (let seen = 0; seen < count && end < text.length; seen++) end += text.codePointAt(end) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

// --- one line -------------------------------------------------------------------------------------------------------

/** Take colours and a logger's prefix off a line: [the record it belongs to, the rest with its indent]. */
function readLine(line, layout) {
  line = withoutLineEnd(line);
  if (line.includes("\x1b")) line = line.replace(layout.colour, "");
  if (line.includes("&")) line = line.replace(layout.entity, (found) => layout.entities[found]);
  const first = layout.header.exec(firstCharacters(line, layout.line_start));
  if (first?.index === 0) return [first[0].trimEnd(), line.slice(first[0].length)]; // nearly all of torch's lines
  let origin = "";
  const prefix = layout.prefix.exec(line)?.[0];
  if (prefix) {
    line = line.slice(prefix.length);
    origin = strip(prefix.replace(layout.clock, ""));
  }
  const header = layout.header.exec(firstCharacters(line, layout.line_start));
  return header ? [header[0].trimEnd(), line.slice(header.index + header[0].length)] : [origin, line];
}

/** `torch._dynamo.exc.Unsupported: X` and `Graph Break Reason: X` are X. */
function stripMarkers(text, layout) {
  const hasPairs = PAIR.test(text);
  for (;;) {
    const marker = layout.marker.exec(firstCharacters(text, layout.line_start, hasPairs));
    if (!marker || !marker[0]) return strip(text);
    text = text.slice(marker.index + marker[0].length);
  }
}

/** Whether torch's reason for a break follows a marker in this line. */
function isMarked(body, layout) {
  const marker = layout.marker.exec(firstCharacters(body, layout.line_start));
  if (!marker) return false;
  const exception = marker[1] ?? marker[2];
  return !exception || layout.reason_exceptions.includes(exception);
}

/** A line's words: without a logger's prefix, torch's markers and the label of a field. */
function wordsOf(line, layout) {
  return stripMarkers(line, layout).replace(layout.label, "");
}

function findLinks(text, layout) {
  return Array.from(text.matchAll(layout.link), (found) => found[1].toUpperCase());
}

/** A text in no layout of torch's: its first line may be the gb_type. */
function unlabelled(text, layout) {
  const first = text.split("\n").find((line) => strip(line)) ?? "";
  return makeMessage({ gbType: stripMarkers(readLine(first, layout)[1], layout), link: findLinks(text, layout)[0] ?? "", text });
}

// --- one message ----------------------------------------------------------------------------------------------------

/** A message being read; finished ones leave as they are. */
class Draft {
  constructor(layout, { line, message, certain, opening = "", marked = false, indent = 0, bodies = [] }) {
    this.layout = layout;
    this.line = line;
    this.message = message;
    this.certain = certain; // only torch writes like this: worth keeping even if nobody knows it
    this.opening = opening; // the line with torch's marker
    this.marked = marked; // the marker says that torch's reason for a break follows
    this.indent = indent;
    this.fields = [];
    this.bodies = bodies;
    this.foreign = 0;
  }

  addField(name, text) {
    this.fields.push([name, [text]]);
    this.certain ||= name === this.layout.labels.context;
  }

  /** Take a line that goes on with the last field; say whether it did. */
  addLine(body) {
    const indent = indentOf(body);
    const blank = indent === body.length;
    const [name, lines] = this.fields[this.fields.length - 1];
    const strippedLayout = this.indent === 0 && name !== this.layout.labels.context;
    if (!blank && indent <= this.indent && !strippedLayout) return false;
    if (this.bodies.length < this.layout.lines_in_message) {
      const byTorch = this.indent + this.layout.field_indent;
      lines.push(body.slice(indent >= byTorch || blank ? byTorch : indent));
      this.bodies.push(body);
    }
    return true;
  }

  finish(causes = []) {
    const { labels } = this.layout;
    const valuesOf = (label) => this.fields.filter(([name]) => name === label).map(([, lines]) => strip(lines.join("\n")));
    this.message.explanation = valuesOf(labels.explanation).join("\n");
    this.message.hints = valuesOf(labels.hint);
    this.message.context = valuesOf(labels.context).join("\n");
    this.message.text = stripAll(this.bodies.join("\n"), "\n");
    this.message.causes = causes;
    return this;
  }
}

/** Reads one log record, or everything outside of records, line by line; gives drafts to `found`. */
class LogRecord {
  constructor(layout, found) {
    this.layout = layout;
    this.found = found;
    this.last = "";
    this.location = "";
    this.operator = "";
    this.reason = null; // a line that names a reason, until its explanation comes or does not
    this.draft = null;
    this.ended = false;
    this.stackIndent = null; // within the user's stack, how far the line above it is indented
    this.aside = false; // within lines that look like the user's stack, and are not
    this.located = false; // whether the place was known before the stack
    this.frame = ""; // within the user's stack, file:line of the frame whose source comes next
    this.chain = [];
  }

  get busy() {
    return Boolean(this.draft || this.chain.length);
  }

  read(body, number) {
    const text = strip(body);
    if (!text) {
      if (this.draft && !this.ended) this.draft.addLine("");
      return;
    }
    const indent = indentOf(body);
    let waiting = this.draft ?? this.reason;
    if (waiting && this.stackIndent !== null) {
      if (indent > this.stackIndent) {
        if (!this.aside) this.#readStack(waiting.message, body);
        return;
      }
      if (this.aside && startsWithAny(text, this.layout.from_user_code)) {
        this.stackIndent = null;
        this.aside = false;
      } else {
        this.close();
        waiting = null;
      }
    }
    const label = this.layout.label.exec(body);
    if (label && !(this.ended && label[1] !== this.layout.labels.explanation)) {
      this.#readLabel(label, body, number);
    } else if (text === this.layout.chain) {
      this.#keepAsCause();
    } else if (waiting && text === this.layout.attribution) {
      this.stackIndent = indent;
      this.aside = true;
    } else if (waiting && startsWithAny(text, this.layout.from_user_code)) {
      this.stackIndent = indent;
      this.located = waiting.message.location !== "";
    } else {
      const hasSign = text.includes(this.layout.link_sign);
      const links = hasSign ? findLinks(text, this.layout) : [];
      if (links.length || (hasSign && this.draft)) this.#readLinks(links, body, text, number);
      else this.#readText(body, text, number);
    }
  }

  /** Take a line of the user's stack: the innermost frame is the place, unless the message named it before. */
  #readStack(message, body) {
    const frame = this.layout.frame.exec(body);
    if (frame) {
      this.frame = `${frame[1]}:${frame[2]}`;
      if (!this.located || this.frame === message.location) {
        Object.assign(message, { location: this.frame, function: frame[3] ?? "", source: strip(frame[4] ?? "") });
      }
    } else if (this.frame) {
      if (this.frame === message.location && !message.source) message.source = strip(body);
      this.frame = "";
    }
  }

  #readLabel(label, body, number) {
    const name = label[1];
    const { labels } = this.layout;
    const rest = body.slice(label[0].length);
    if (name === labels.operator) {
      this.operator = strip(rest);
      return;
    }
    const headless = !this.draft && name === labels.context;
    if (headless) this.#start("", body, number);
    else if (name === labels.explanation) this.#start(stripMarkers(this.last, this.layout), body, number);
    if (this.draft) {
      this.draft.bodies.push(body);
      this.draft.foreign = 0;
      this.draft.addField(name, rest);
    }
  }

  #start(gbType, body, number) {
    let { reason } = this;
    this.reason = null;
    if (reason && !reason.message.gbType.endsWith(":") && reason.message.gbType !== gbType) {
      this.found.push(reason); // no preamble ("Graph break encountered:") of this one, but a message of its own
      reason = null;
    }
    const causes = this.draft ? [] : [...this.chain];
    if (!causes.length) this.close();
    this.chain = causes;
    this.draft = new Draft(this.layout, {
      line: reason ? reason.line : number,
      message: makeMessage({ gbType, higherOrderOperator: this.operator, location: this.location }),
      certain: Boolean(reason?.certain),
      indent: indentOf(body),
      bodies: gbType ? [gbType] : [],
    });
    this.operator = "";
    this.ended = false;
  }

  #readLinks(links, body, text, number) {
    let next = 0;
    if (this.draft && !this.ended) {
      this.draft.message.link = links[next++] ?? "";
      this.draft.bodies.push(body);
      this.draft.certain = this.ended = true;
    }
    for (; next < links.length; next++) {
      this.found.push(new Draft(this.layout, { line: number, message: makeMessage({ link: links[next], text }), certain: true }));
    }
  }

  #readText(body, text, number) {
    if (this.ended || startsWithAny(text, this.layout.endings)) this.close();
    if (this.draft && !this.#startsAnew(body) && this.draft.addLine(body)) {
      this.last = body;
      return;
    }
    const place = this.layout.location.exec(body);
    const marker = place ? null : this.layout.marker.exec(body);
    if (place) {
      this.close();
      this.location = place[1];
    } else if (marker) {
      this.close();
      const byTorch = marker[0].startsWith(this.layout.reason) || this.layout.break_exceptions.includes(marker[1] ?? marker[2]);
      // before torch 2.7: "Graph break in user code at …", "Reason: …"
      const certain = byTorch || this.location !== "";
      const reason = strip(body.slice(marker.index + marker[0].length));
      this.#wait(reason, number, { certain, opening: text, marked: isMarked(body, this.layout) });
    } else if (!this.#isIntroduced() && this.layout.form_signs.some((sign) => body.includes(sign))) {
      this.close();
      this.#wait(text, number, {});
    } else if (this.draft || this.reason) {
      this.#readForeign(body);
    }
    this.last = body;
  }

  /** Whether this line is what a reason before it introduces: "Graph break encountered:", then an error's text. */
  #isIntroduced() {
    return Boolean(this.reason?.message.gbType.endsWith(":")) && !this.reason.bodies.some(Boolean);
  }

  /** Take a line that names a reason; what follows may explain it. */
  #wait(text, number, { certain = false, opening = "", marked = false }) {
    const message = makeMessage({ gbType: stripMarkers(text, this.layout), location: this.location, text });
    this.reason = new Draft(this.layout, { line: number, message, certain, opening, marked });
  }

  /** In a text that lost its indentation, a marker is all that tells the next message from this one. */
  #startsAnew(body) {
    const indent = indentOf(body);
    if (!this.draft || indent > this.draft.indent) return false;
    if (this.layout.location.test(body)) return true;
    const text = body.slice(indent);
    return this.layout.marker.exec(text)?.index === 0;
  }

  #readForeign(body) {
    if (this.reason) {
      this.reason.bodies.push(body);
      const place = this.layout.function.exec(body);
      if (place) Object.assign(this.reason.message, { function: place[1], location: place[2] });
    }
    const waiting = this.draft ?? this.reason;
    waiting.foreign++;
    if (waiting.foreign > this.layout.foreign_lines) this.close();
  }

  #keepAsCause() {
    if (!this.draft) return;
    this.chain.push(this.draft.finish());
    this.draft = null;
    this.ended = false;
  }

  /** Give what was read so far, and start anew. */
  close() {
    const drafts = this.draft ? [...this.chain, this.draft] : this.chain;
    const final = drafts[drafts.length - 1];
    if (final) this.found.push(final.finish(drafts.slice(0, -1).map((cause) => cause.message)));
    else if (this.reason) this.found.push(this.reason);
    if (final || this.reason) this.location = "";
    this.chain = [];
    this.draft = this.reason = null;
    this.ended = false;
    this.stackIndent = null;
    this.aside = false;
    this.frame = "";
  }
}

function startsWithAny(text, starts) {
  return starts.some((start) => text.startsWith(start));
}

// --- a whole log ----------------------------------------------------------------------------------------------------

/** Where in a text one of torch's words comes next; each word is sought once from one end to the other. */
class Signs {
  constructor(text, words) {
    this.text = text;
    this.next = words.map((word) => ({ word, at: text.indexOf(word) }));
  }

  /** The first at or behind `from`, or -1; `from` never goes back. */
  after(from) {
    let first = -1;
    for (const sign of this.next) {
      if (sign.at >= 0 && sign.at < from) sign.at = this.text.indexOf(sign.word, from);
      if (sign.at >= 0 && (first < 0 || sign.at < first)) first = sign.at;
    }
    return first;
  }
}

/** Lines with their numbers. While `idle()`, those without a sign are passed over; `last` is then the last of them. */
class Lines {
  constructor(text, layout) {
    this.text = text;
    this.signs = new Signs(text, layout.signs);
    this.at = 0;
    this.number = 0;
    this.last = "";
  }

  /** Go to the next line worth reading; null at the end. */
  next(idle) {
    if (this.at > this.text.length) return null;
    if (idle) {
      const sign = this.signs.after(this.at);
      if (sign < 0) return null;
      this.#passOver(sign);
    }
    const end = this.#lineEnd(this.at);
    const line = this.text.slice(this.at, end);
    this.at = end + 1;
    this.number++;
    return line;
  }

  #lineEnd(from) {
    const end = this.text.indexOf("\n", from);
    return end < 0 ? this.text.length : end;
  }

  /** Move to the start of the line that holds `position`. */
  #passOver(position) {
    const before = this.at;
    for (let end = this.#lineEnd(this.at); end < position; end = this.#lineEnd(this.at)) {
      this.at = end + 1;
      this.number++;
    }
    for (let end = this.at - 1; end > before; ) {
      const start = Math.max(this.text.lastIndexOf("\n", end - 1) + 1, before);
      const line = this.text.slice(start, end);
      if (endOf(line)) {
        this.last = line;
        return;
      }
      end = start - 1;
    }
  }
}

/** Messages in the order in which they end; text with none of torch's words in it costs next to nothing. */
function* findDrafts(text, layout) {
  const hasSign = (piece) => layout.signs.some((sign) => piece.includes(sign));
  const lines = new Lines(text, layout);
  const records = new Map();
  const busy = new Set();
  const found = [];
  let header = "";
  let key = "";
  let explainedUntil = 0; // up to this line, words may explain a reason that was given
  for (let line = lines.next(true); line !== null; line = lines.next(!busy.size && lines.number >= explainedUntil)) {
    for (const piece of withoutLineEnd(line).split("\r")) {
      let body;
      if (header && piece.startsWith(header) && !piece.includes("\x1b")) {
        body = piece.slice(header.length); // the next line of the same record
      } else {
        [key, body] = readLine(piece, layout);
        const isRecord = layout.header.exec(key)?.index === 0 && piece.endsWith(body);
        header = isRecord ? piece.slice(0, piece.length - body.length) : "";
      }
      let record = records.get(key);
      if (!record) {
        if (!hasSign(body)) {
          lines.last = piece;
          continue;
        }
        record = new LogRecord(layout, found);
        records.set(key, record);
        if (records.size > layout.open_records) {
          const [oldest, crowdedOut] = records.entries().next().value;
          records.delete(oldest);
          busy.delete(oldest);
          crowdedOut.close();
        }
      }
      if (lines.last) {
        const [before, last] = readLine(lines.last, layout);
        if (before === key) record.last = last;
        lines.last = "";
      }
      record.read(body, lines.number);
      if (record.reason?.line === lines.number) explainedUntil = lines.number + layout.foreign_lines;
      if (!header) busy[record.busy ? "add" : "delete"](key);
    }
    if (found.length) yield* found.splice(0);
  }
  for (const record of records.values()) record.close();
  yield* found;
}

return { compileLayout, makeMessage, strip, stripEnd, splitWords, lengthOf, stripAll, readLine, stripMarkers, isMarked, wordsOf, unlabelled, findDrafts };
})();

modules["matching"] = (() => {
// From the text of a message, or of a whole log, to its ids. The twin of registry/matching.py, without the release; a
// test holds the two to the same answers. Pure: no DOM, Node runs it too.

const { Forms } = modules["forms"];
const {
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
} = modules["messages"];

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
class Matcher {
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

return { Matcher };
})();

modules["log-reader"] = (() => {
// Reads logs with the registry's wordings: in a worker, or in the page where there is none.

const { makeReport } = modules["log-report"];
const { Matcher } = modules["matching"];

/** A function that reads a log. */
function readerWith({ wordings, answers }) {
  const matcher = new Matcher(wordings);
  return (text, torch) => makeReport(text, matcher, wordings, answers, torch);
}

/** In a worker: the first message brings the wordings and answers, each later one a text to read. */
function answerRequests(worker) {
  let read;
  worker.addEventListener("message", ({ data: { request, text, torch, known } }) => {
    if (known) {
      read = readerWith(known);
      return;
    }
    try {
      worker.postMessage({ request, report: read(text, torch) });
    } catch (error) {
      worker.postMessage({ request, error: String(error) });
    }
  });
}

return { readerWith, answerRequests };
})();

return modules["log-reader"];
});
