// Messages in text: cut them out of a log, and take one apart as torch puts it together. The twin of
// registry/messages.py and message_layout.py, step for step; a test holds them to the same answers. Pure: no DOM, Node runs it.

/** Torch's layout, from wordings.json: the expressions and words themselves are written once, in Python. */
export function compileLayout(layout) {
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

export function makeMessage(parts) {
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

export function strip(text) {
  const end = endOf(text);
  return end === 0 ? "" : text.slice(indentOf(text), end);
}

export function stripEnd(text) {
  return text.slice(0, endOf(text));
}

/** The words of a text, as Python's `split` finds them. */
export function splitWords(text) {
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
export function lengthOf(text) {
  return PAIR.test(text) ? Array.from(text).length : text.length;
}

export function stripAll(text, characters) {
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
export function readLine(line, layout) {
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
export function stripMarkers(text, layout) {
  const hasPairs = PAIR.test(text);
  for (;;) {
    const marker = layout.marker.exec(firstCharacters(text, layout.line_start, hasPairs));
    if (!marker || !marker[0]) return strip(text);
    text = text.slice(marker.index + marker[0].length);
  }
}

/** Whether torch's reason for a break follows a marker in this line. */
export function isMarked(body, layout) {
  const marker = layout.marker.exec(firstCharacters(body, layout.line_start));
  if (!marker) return false;
  const exception = marker[1] ?? marker[2];
  return !exception || layout.reason_exceptions.includes(exception);
}

/** A line's words: without a logger's prefix, torch's markers and the label of a field. */
export function wordsOf(line, layout) {
  return stripMarkers(line, layout).replace(layout.label, "");
}

function findLinks(text, layout) {
  return Array.from(text.matchAll(layout.link), (found) => found[1].toUpperCase());
}

/** A text in no layout of torch's: its first line may be the gb_type. */
export function unlabelled(text, layout) {
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
export function* findDrafts(text, layout) {
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
