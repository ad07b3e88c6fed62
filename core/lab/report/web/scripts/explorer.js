// Filters, list and the chosen answer, held together by one state.

const WAIT_MS = 120;

class Explorer {
  constructor(root) {
    this.root = root;
    this.form = root.querySelector("form");
    this.count = root.querySelector(".count");
    this.pane = root.querySelector(".shown");
    this.hint = [...this.pane.childNodes];
    this.state = { ...NOTHING };
    this.list = new VirtualList(root.querySelector(".list"), { draw: drawRow, choose: (place) => this.open(this.list.items[place]) });
    fillChoices(this.form);
    this.form.addEventListener("input", () => this.typed());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("reset", (event) => {
      event.preventDefault();
      this.go({ ...NOTHING, answer: this.state.answer }, Visit.SAME);
    });
  }

  /** Filters as the form has them, once the fingers rest. */
  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const asked = Object.fromEntries(new FormData(this.form));
      this.go({ ...this.state, ...asked }, Visit.SAME);
    }, WAIT_MS);
  }

  /** Show `state` and put it into the address. */
  go(state, visit) {
    remember(state, visit);
    this.show(state);
  }

  show(state) {
    const filters = ({ answer: _, ...rest }) => JSON.stringify(rest);
    const refiltered = !this.list.drawn || filters(state) !== filters(this.state);
    this.state = state;
    for (const control of this.form.elements) if (control.name) control.value = state[control.name];
    if (refiltered) this.refill();
    this.present(answerNamed.get(state.answer));
  }

  refill() {
    const found = listed(this.state);
    const only = this.state.question ? ` of question ${this.state.question}` : "";
    this.count.textContent = `${found.length} of ${answers.length} answers${only}`;
    this.list.drawn = true;
    this.list.mark(-1);
    this.list.box.scrollTop = 0;
    this.list.show(found);
  }

  present(answer) {
    this.list.mark(answer ? this.list.items.indexOf(answer) : -1);
    this.root.toggleAttribute("data-open", Boolean(answer));
    if (!answer) return this.pane.replaceChildren(...this.hint);
    const close = node("button", { type: "button", class: "close", onclick: () => this.close() }, "Close");
    this.pane.replaceChildren(close, ...answerNodes(answer, (other) => this.open(other)));
    this.pane.scrollTop = 0;
  }

  open(answer) {
    const visit = this.state.answer ? Visit.SAME : Visit.NEW;
    this.go({ ...this.state, answer: nameOf(answer) }, visit);
  }

  close() {
    this.go({ ...this.state, answer: "" }, Visit.SAME);
    this.list.box.focus();
  }

  /** Open the answer `steps` further down the list. */
  step(steps) {
    const { items, chosen } = this.list;
    const next = Math.min(Math.max(chosen + steps, 0), items.length - 1);
    if (items.length && next !== chosen) this.open(items[next]);
  }

  /** Open the answer to the same question `steps` further. */
  sideways(steps) {
    const answer = answerNamed.get(this.state.answer);
    const other = answer && answersTo[answer.question][answer.place + steps];
    if (other) this.open(other);
  }
}

function drawRow(answer) {
  const asked = listing.questions[answer.question];
  const verdict = { VALID: ["good", "valid"], INVALID: ["bad", answer.category ?? "rejected"] }[answer.syntax];
  const fell = answer.raw !== null && answer.final !== null && answer.raw !== answer.final;
  return [
    node("span", { class: "top" }, node("b", {}, asked.id), node("span", { class: "muted" }, `${listing.suites[answer.suite]} · run ${answer.run}`),
      verdict ? node("span", { class: `badge ${verdict[0]}` }, verdict[1]) : null,
      node("span", { class: "score" }, fell ? node("s", {}, number(answer.raw, 2)) : null, answer.final === null ? "–" : number(answer.final, 2))),
    node("span", { class: "asks" }, asked.question),
  ];
}
