// What to try for a message: the fixes that are right for what it names. The twin of registry/advice.py and fits.py. Pure.

/** {why, fixes, counsels, misfit, isolated, noFix} for an id and a message that has it; null for an id without an entry. */
export function adviseFor({ ways_out: waysOut, answers }, gbId, message) {
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
