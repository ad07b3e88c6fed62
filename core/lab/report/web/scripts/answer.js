// One answer in full: question, scores, what judges said, the answer with its code, what it stood on.

const METRIC_NAMES = {
  faithfulness: "faithfulness", answer_relevancy: "answer relevancy", context_recall: "context recall",
  context_precision: "context precision", global_score: "global score",
};

const QUESTIONS_OF = {
  faithfulness: "Statements of the answer, held against the passages",
  answer_relevancy: "Questions generated back from the answer",
  context_recall: "Statements of the reference, sought in the passages",
  context_precision: "Passages, by their use for the reference",
};

const POSITIVE = { answer_relevancy: ["answers", "declines"] };

function section(title, ...content) {
  return node("section", {}, node("h4", {}, title), content);
}

function folding(title, open, ...content) {
  return node("details", { open }, node("summary", {}, title), content);
}

function prose(text) {
  return node("p", { class: "prose" }, text);
}

function scoreRow(score, texts) {
  const changed = score.raw !== score.final && score.final !== null;
  return node("tr", {},
    node("th", { scope: "row" }, METRIC_NAMES[score.metric] ?? score.metric),
    node("td", { class: "n" }, score.raw === null ? `not measured: ${score.reason}` : number(score.raw)),
    node("td", { class: changed ? "n bad" : "n" }, node("b", {}, number(score.final))),
    node("td", { class: "muted" }, texts[score.detail]));
}

function scoreTable(scores, texts) {
  const heads = ["metric", "as judged", "after the gate", ""].map((name, at) =>
    node("th", { scope: "col", class: at === 1 || at === 2 ? "n" : null }, name));
  return node("div", { class: "scroll" }, node("table", {}, node("thead", {}, node("tr", {}, heads)),
    node("tbody", {}, scores.map((score) => scoreRow(score, texts)))));
}

function findingRow(finding, metric, texts) {
  const [no, yes] = POSITIVE[metric] ?? ["no", "yes"];
  const good = (finding.value === 1) !== (metric in POSITIVE);
  return node("li", {}, node("span", { class: good ? "badge good" : "badge bad" }, finding.value ? yes : no), " ",
    node("span", { class: "muted" }, `${finding.id} `), texts[finding.text],
    texts[finding.reason] ? node("span", { class: "reason" }, texts[finding.reason]) : null);
}

function reasoning(score, texts) {
  if (!score.findings.length) return null;
  const good = score.findings.filter((finding) => (finding.value === 1) !== (score.metric in POSITIVE)).length;
  return folding(`${QUESTIONS_OF[score.metric] ?? score.metric}: ${good} of ${score.findings.length}`, false,
    node("ul", { class: "findings plain" }, score.findings.map((finding) => findingRow(finding, score.metric, texts))));
}

function passageNode({ passage, score }, place, gold) {
  const { id, section: from, source, text, code } = passageTexts(0)[passage];
  const isGold = gold.includes(from);
  const title = node("span", {}, `P${place + 1} `, node("code", {}, id), isGold ? node("span", { class: "badge good" }, "gold") : null,
    node("span", { class: "muted" }, ` ${score} ${source}`));
  return folding(title, false, node("pre", { class: "passage", tabindex: "0" }, code ? `${text}\n\n${code}` : text));
}

function fewShotText({ status, k_configured: configured, ids, similarities, reason }) {
  const shots = ids.map((id, at) => `${id} (${similarities[at]?.toFixed(3) ?? "?"})`).join(", ");
  return `${status}, ${ids.length} of ${configured}${reason ? ` (${reason})` : ""}${shots ? `: ${shots}` : ""}`;
}

/** The other answers to the same question: a row of runs per suite. */
function siblings(answer, choose) {
  const bySuite = listing.suites.map((name, suite) => [name, answersTo[answer.question].filter((other) => other.suite === suite)]);
  return node("div", { class: "siblings" }, bySuite.filter(([, group]) => group.length).map(([name, group]) =>
    node("div", { role: "group", "aria-label": `Runs of ${name}` }, node("span", { class: "muted" }, name),
      group.map((other) => node("button", {
        type: "button", class: other.syntax === "INVALID" ? "run rejected" : "run", "aria-current": other === answer,
        title: `run ${other.run}: ${number(other.final, 3)}${other.syntax ? `, ${other.syntax}` : ""}`, onclick: () => choose(other),
      }, other.final === null ? "–" : number(other.final, 2))))));
}

function heading(answer, asked) {
  const facts = [asked.type, asked.language, asked.answerable ? null : "not answerable from the corpus"].filter(Boolean);
  return node("header", {},
    node("h3", {}, `${asked.id} `, node("span", { class: "muted" }, `${listing.suites[answer.suite]}, run ${answer.run}`)),
    node("p", { class: "muted" }, facts.join(" · ")));
}

function notes(told, texts) {
  const said = [
    told.declined ? "The answer declines." : "",
    told.stop === "end_turn" ? "" : `The reply ended with ${told.stop}.`,
    texts[told.fault],
  ].filter(Boolean);
  return said.length ? node("p", { class: "bad" }, said.join(" ")) : null;
}

/** Everything about `answer`, as children of the pane that shows it. */
function answerNodes(answer, choose) {
  const asked = listing.questions[answer.question];
  const details = questionDetails(answer.question);
  const told = details.answers[answer.place];
  const texts = details.texts;
  const gold = details.gold_passages;
  const parts = told.parts.map((part) => (typeof part === "number" ? prose(texts[part]) : program(part, texts)));
  return [
    heading(answer, asked),
    prose(asked.question),
    siblings(answer, choose),
    section("Answer", notes(told, texts), parts.length ? parts : node("p", { class: "muted" }, "The answer is empty.")),
    section("Scores", scoreTable(told.scores, texts), told.scores.map((score) => reasoning(score, texts))),
    section("Reference", prose(texts[details.reference])),
    section(`Passages retrieved (${told.passages.length})`,
      node("p", { class: "muted" }, `Searched for: ${texts[told.query] || "nothing"}. Gold: ${gold.join(", ") || "none"}.`),
      told.passages.map((passage, place) => passageNode(passage, place, gold))),
    section("Few-shots", node("p", { class: "muted" }, fewShotText(told.few_shots))),
    section("About", node("p", { class: "muted" }, `Constructs: ${details.constructs.join(", ") || "none"}. ${told.models.join("; ")}.`)),
  ];
}
