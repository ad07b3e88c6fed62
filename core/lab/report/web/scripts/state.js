// What is looked at, kept in the address so that it can be sent to somebody, and so that Back closes an answer.

const NOTHING = {
  text: "", question: "", suite: "", type: "", language: "", validity: "", flipped: "", order: "question", answer: "",
};

/** The state that an address asks for; null for an address that only points to a part of the page. */
function stateOf(hash) {
  if (!hash.includes("=")) return null;
  const asked = new URLSearchParams(hash.slice(1));
  return Object.fromEntries(Object.entries(NOTHING).map(([key, none]) => [key, asked.get(key) ?? none]));
}

function hashOf(state) {
  const said = Object.entries(state).filter(([key, value]) => value !== NOTHING[key]);
  return said.length ? `#${new URLSearchParams(said)}` : "#answers";
}

const Visit = { NEW: "pushState", SAME: "replaceState" };

function remember(state, visit) {
  history[visit](null, "", hashOf(state));
}

/** How an answer is named in an address. */
function nameOf(answer) {
  return `${listing.questions[answer.question].id}/${answer.run}/${listing.suites[answer.suite]}`;
}

const answerNamed = new Map(answers.map((answer) => [nameOf(answer), answer]));
