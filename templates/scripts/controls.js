// The filter controls of the home page, and the [facet, value] pairs that they stand for.

const PLAIN = ["category", "status", "live", "fix", "note", "device"];

/** Set the controls to the pairs that they can express; return the others, which are shown as chips. */
export function showPairs(form, pairs) {
  const { elements } = form;
  for (const name of [...PLAIN, "since"]) elements[name].value = "";
  elements["since-sign"].value = "ge";
  return pairs.filter((pair) => !showPair(elements, pair));
}

function showPair(elements, [name, value]) {
  if (name !== "since") return PLAIN.includes(name) && choose(elements[name], value);
  const [, sign = "eq", release] = /^(?:(ge|le|eq):)?(.*)$/s.exec(value);
  if (!choose(elements.since, release)) return false;
  elements["since-sign"].value = sign;
  return true;
}

/** Choose a value that a control has, unless it stands on another already. */
function choose(control, value) {
  if (control.value || ![...control.options].some((option) => option.value === value)) return false;
  control.value = value;
  return true;
}

/** The pairs that the controls stand for. */
export function readPairs(form) {
  const { elements } = form;
  const pairs = PLAIN.map((name) => [name, elements[name].value]);
  if (elements.since.value) pairs.push(["since", `${elements["since-sign"].value}:${elements.since.value}`]);
  return pairs.filter(([, value]) => value);
}
