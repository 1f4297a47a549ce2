// What a log says, added up: each break once, with its count and places. Pure: no DOM, Node runs it too.

const SHORT = 20_000; // characters: a longer text is a log, and not a title or an explanation by itself
const EXCERPT = 4_000;

/** Name everything in `text`; `wordings` is what the matcher was built from. */
export function makeReport(text, matcher, wordings) {
  const known = new Map(wordings.breaks.map(([gbId, title, status]) => [gbId, { title, status }]));
  const groups = new Map();
  let messages = 0;
  for (const match of findMatches(text, matcher)) {
    messages++;
    addMatch(groups, match);
  }
  const found = [...groups.values()].sort((one, other) => other.count - one.count || one.line - other.line);
  const isKnown = (group) => group.steps.some((step) => step.gbIds.length);
  return {
    lines: countLines(text),
    messages,
    breaks: found.filter(isKnown).map((group) => describeBreak(group, known, wordings.statuses)),
    unknown: found.filter((group) => !isKnown(group)).map(describeUnknown),
  };
}

function* findMatches(text, matcher) {
  let none = true;
  for (const match of matcher.findMessages(text)) {
    none = false;
    yield match;
  }
  if (none && text.length <= SHORT) {
    const match = matcher.matchMessage(text); // a bare title or explanation, which nothing around it betrays
    if (match?.gbIds.length) yield match;
  }
}

/** Causes first, then what they surfaced as: messages are the same break if every step is. */
function addMatch(groups, match) {
  const chain = [...match.causes, match];
  const key = chain.length === 1 ? keyOf(match) : chain.map(keyOf).join(">");
  let group = groups.get(key);
  if (!group) {
    const steps = chain.map(({ gbIds, message }) => ({ gbIds, text: message.text, hows: new Map() }));
    group = { steps, count: 0, line: match.line, places: new Map() };
    groups.set(key, group);
  }
  group.count++;
  group.line = Math.min(group.line, match.line);
  for (const [at, step] of chain.entries()) increase(group.steps[at].hows, step.how);
  if (match.message.location) increase(group.places, match.message.location);
}

function keyOf({ gbIds, message }) {
  return gbIds.length ? gbIds.join() : `?${message.text}`;
}

function increase(counts, key) {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function describeBreak({ steps, count, line, places }, known, statuses) {
  return { steps: steps.map((step) => describeStep(step, known, statuses)), count, line, places: mostFrequent(places) };
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
