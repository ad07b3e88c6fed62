// The pages of `assay ui`: a filter, a choice of two, and a run that is watched while it goes on.

const REFRESH_MS = 2000;

const filter = document.querySelector("[data-filter]");
filter?.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const family of document.querySelectorAll(".family")) {
    const name = family.getAttribute("aria-label").toLowerCase();
    const runs = [...family.querySelectorAll(".run")];
    for (const run of runs) run.hidden = !words.every((word) => `${name} ${run.textContent.toLowerCase()}`.includes(word));
    family.hidden = runs.every((run) => run.hidden);
  }
});

const choice = document.querySelector("form[data-choose]");
if (choice) {
  const boxes = [...choice.querySelectorAll("input[type=checkbox]")];
  const button = choice.querySelector("button[type=submit]");
  const wanted = Number(choice.dataset.choose);
  const update = () => {
    const chosen = boxes.filter((box) => box.checked);
    button.disabled = chosen.length !== wanted;
    for (const box of boxes) box.disabled = !box.checked && chosen.length >= wanted;
    choice.querySelector("[data-chosen]").textContent = chosen.length
      ? `Chosen: ${chosen.map((box) => box.value).join(" and ")}`
      : "Choose two runs to see what differs.";
  };
  choice.addEventListener("change", update);
  update();
}

function facts(list, pairs) {
  list.replaceChildren(...pairs.flatMap(([name, value]) => [node("dt", {}, String(name)), node("dd", {}, String(value))]));
}

const now = document.querySelector("[data-now]");
if (now) {
  const look = async () => {
    const response = await fetch(now.dataset.now).catch(() => null);
    if (!response?.ok) return;
    const { status, rows, told } = await response.json();
    if (status !== "running") return location.reload();
    facts(now.querySelector("[data-rows]"), Object.entries(rows).map(([suite, count]) => [suite, `${count} rows`]));
    facts(now.querySelector("[data-told]"), told);
  };
  setInterval(look, REFRESH_MS);
  look();
}
