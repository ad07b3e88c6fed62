// Which answers are listed, and in which order.

const MISSING_LAST = Number.POSITIVE_INFINITY;

const ORDERS = {
  question: { name: "question", key: (answer) => answer.index },
  worst: { name: "worst score first", key: (answer) => answer.final ?? MISSING_LAST },
  lost: { name: "most lost to the gate", key: (answer) => (answer.final ?? 0) - (answer.raw ?? 0) },
};

const FLIPS = {
  gate: { name: "score changed by the gate", keeps: (answer) => answer.raw !== answer.final },
  runs: { name: "validity flips between runs", keeps: (answer) => answer.flipped },
  unscored: { name: "without a score", keeps: (answer) => answer.final === null },
};

const VALIDITIES = {
  VALID: { name: "valid", keeps: (answer) => answer.syntax === "VALID" },
  INVALID: { name: "rejected", keeps: (answer) => answer.syntax === "INVALID" },
  none: { name: "no code", keeps: (answer) => answer.syntax === null },
};

/** Tests that an answer must pass, cheapest first. */
function testsOf(state) {
  const asked = (answer) => listing.questions[answer.question];
  const tests = [
    state.suite && ((answer) => listing.suites[answer.suite] === state.suite),
    state.question && ((answer) => asked(answer).id === state.question),
    state.type && ((answer) => asked(answer).type === state.type),
    state.language && ((answer) => asked(answer).language === state.language),
    VALIDITIES[state.validity]?.keeps ?? categoryTest(state.validity),
    FLIPS[state.flipped]?.keeps,
    ...folded(state.text).split(/\s+/).filter(Boolean).map((word) => (answer) => searchText(answer.index).includes(word)),
  ];
  return tests.filter(Boolean);
}

function categoryTest(category) {
  return category && ((answer) => answer.category === category);
}

/** The rows that `state` asks for, in its order. */
function listed(state) {
  const tests = testsOf(state);
  const { key } = ORDERS[state.order] ?? ORDERS.question;
  return answers
    .filter((answer) => tests.every((passes) => passes(answer)))
    .sort((a, b) => key(a) - key(b) || a.index - b.index);
}

function options(select, all, named) {
  select.append(node("option", { value: "" }, all));
  for (const [value, name] of named) select.append(node("option", { value }, name));
}

const distinct = (values) => [...new Set(values)].sort().map((value) => [value, value]);
const named = (choices) => Object.entries(choices).map(([value, { name }]) => [value, name]);

/** Fill the choices of the form from what there is. */
function fillChoices(form) {
  options(form.suite, "all", listing.suites.map((suite) => [suite, suite]));
  options(form.type, "all", distinct(listing.questions.map((question) => question.type)));
  options(form.language, "all", distinct(listing.questions.map((question) => question.language)));
  const categories = distinct(answers.map((answer) => answer.category).filter(Boolean));
  options(form.validity, "all", [...named(VALIDITIES), ...categories.map(([value]) => [value, `rejected: ${value}`])]);
  options(form.flipped, "no condition", named(FLIPS));
  for (const [value, name] of named(ORDERS)) form.order.append(node("option", { value }, name));
}
