// What a log says, added up: each break once, with its count and places. Pure: no DOM, Node runs it too.

import { adviseFor } from "./answers.js";

const EXCERPT = 4_000;

/** Name everything in `text`; `wordings` is what the matcher was built from, `answers` what is known of each id, `torch` the reader's. */
export function makeReport(text, matcher, wordings, answers, torch = "") {
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
