// Reads a log with the registry's wordings, which are fetched on first use. Runs in the worker, or in the page.

import { makeReport } from "./log-report.js";
import { Matcher } from "./matching.js";

let loading;

export async function readLog(text) {
  loading ??= load();
  try {
    const { matcher, wordings, answers } = await loading;
    return makeReport(text, matcher, wordings, answers);
  } catch (error) {
    loading = undefined; // the next attempt may find the network again
    throw error;
  }
}

async function load() {
  const [wordings, answers] = await Promise.all(["wordings", "answers"].map(fetchData));
  return { wordings, answers, matcher: new Matcher(wordings) };
}

async function fetchData(name) {
  const answer = await fetch(new URL(`../data/${name}.json`, import.meta.url));
  if (!answer.ok) throw new Error(`${name}.json: ${answer.status}`);
  return answer.json();
}
