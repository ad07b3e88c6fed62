// Tables whose columns sort at a click on their head.

function sortKey(cell) {
  const text = cell.dataset.value ?? cell.textContent.trim();
  const value = text === "" ? NaN : Number(text.replace("−", "-").replace(/^\[/, "").split(/[ ,]/)[0]);
  return { text, value };
}

function compareCells(a, b) {
  const missing = [Number.isNaN(a.value), Number.isNaN(b.value)];
  if (missing[0] && missing[1]) return a.text.localeCompare(b.text, "en", { numeric: true });
  if (missing[0] || missing[1]) return missing[0] - missing[1];
  return a.value - b.value;
}

function sortBy(table, column, direction) {
  const body = table.tBodies[0];
  const sign = direction === "ascending" ? 1 : -1;
  const keyed = [...body.rows].map((row) => ({ row, key: sortKey(row.cells[column]) }));
  keyed.sort((a, b) => sign * compareCells(a.key, b.key));
  body.append(...keyed.map(({ row }) => row));
  for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
  table.tHead.rows[0].cells[column].setAttribute("aria-sort", direction);
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (head.hasAttribute("data-fixed")) return;
    const button = node("button", { type: "button", class: "sort" }, head.textContent);
    button.addEventListener("click", () => {
      sortBy(table, column, head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending");
    });
    head.replaceChildren(button);
  });
}

for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
