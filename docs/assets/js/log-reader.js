// Reads a log with the registry's wordings, which are fetched on first use. Runs in the worker, or in the page.

import { makeReport } from "./log-report.js";
import { Matcher } from "./matching.js";

let loading;

export async function readLog(text) {
  loading ??= load();
  try {
    const { matcher, wordings } = await loading;
    return makeReport(text, matcher, wordings);
  } catch (error) {
    loading = undefined; // the next attempt may find the network again
    throw error;
  }
}

async function load() {
  const answer = await fetch(new URL("../data/wordings.json", import.meta.url));
  if (!answer.ok) throw new Error(`wordings.json: ${answer.status}`);
  const wordings = await answer.json();
  return { wordings, matcher: new Matcher(wordings) };
}
