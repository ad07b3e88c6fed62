// What the renderer embedded. core/lab/report/embedded.py is the contract.

function embedded(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

const listing = embedded("listing");

/** One object per row: `question`, `suite`, `run`, `syntax`, `category`, `raw`, `final`, and its places. */
const answers = listing.answers.map((values, index) => {
  const answer = { index };
  listing.columns.forEach((column, place) => { answer[column] = values[place]; });
  return answer;
});

/** The rows of each question, in order. */
const answersTo = listing.questions.map(() => []);
for (const answer of answers) {
  answer.place = answersTo[answer.question].length;
  answersTo[answer.question].push(answer);
}

function markFlips(group) {
  const verdicts = new Map();
  for (const { suite, syntax } of group) {
    if (syntax !== null) verdicts.set(suite, (verdicts.get(suite) ?? new Set()).add(syntax));
  }
  for (const answer of group) answer.flipped = (verdicts.get(answer.suite)?.size ?? 0) > 1;
}
answersTo.forEach(markFlips);

function remembered(make) {
  const known = new Map();
  return (key) => {
    if (!known.has(key)) known.set(key, make(key));
    return known.get(key);
  };
}

/** Everything about one question, parsed when it is first asked for. */
const questionDetails = remembered((question) => embedded(`question-${question}`));
const passageTexts = remembered(() => embedded("passages").passages);

/** Letters without case and accents, so that "funcion" finds "Función". */
function folded(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** What a search looks through. */
const searchText = remembered((index) => {
  const { question, place } = answers[index];
  const asked = listing.questions[question];
  const details = questionDetails(question);
  const parts = details.answers[place].parts.map((part) => details.texts[typeof part === "number" ? part : part.code]);
  return folded([asked.id, asked.question, ...parts].join("\n"));
});
