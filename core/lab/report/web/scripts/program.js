// A program under the parser's eyes: what it said stands below the line it is about.

/** The line with the offending piece marked. Columns count code points, from 1. */
function markedLine(text, faults) {
  const points = Array.from(text);
  const pieces = [];
  let told = 0;
  for (const { column, length } of faults) {
    const start = column - 1;
    if (start < told || start >= points.length || length === 0) continue;
    const end = Math.min(start + length, points.length);
    pieces.push(points.slice(told, start).join(""), node("mark", {}, points.slice(start, end).join("")));
    told = end;
  }
  pieces.push(points.slice(told).join(""));
  return pieces;
}

function lineNode(text, place, faults, texts) {
  const sized = faults.map(({ column, offending }) => ({ column, length: Array.from(texts[offending].split("\n")[0]).length }));
  sized.sort((a, b) => a.column - b.column);
  const line = node("span", { class: faults.length ? "line hit" : "line" },
    node("span", { class: "no", "aria-hidden": "true" }, String(place)), node("span", { class: "code" }, markedLine(text, sized)));
  return [line, ...faults.map((fault) => node("span", { class: "say" }, texts[fault.said]))];
}

const KINDS = {
  code: "", foreign_block: "another language: not parsed", unlabelled: "unlabelled: not parsed",
  indented: "indented: not parsed", empty: "empty",
};

/** A code block with its verdict. The parser counts line feeds; U+2028 is a character of a text like any other. */
function program(block, texts) {
  const lines = texts[block.code].split("\n");
  const on = (place) => block.faults.filter((fault) => Math.min(Math.max(fault.line, 1), lines.length) === place);
  const notes = [block.label || "no label", KINDS[block.kind], block.closed ? "" : "never closed"].filter(Boolean);
  const verdict = block.verdict && node("span", { class: `badge ${block.verdict === "VALID" ? "good" : "bad"}` }, block.verdict);
  return node("figure", { class: "program" },
    node("figcaption", {}, verdict, node("span", { class: "muted" }, notes.join(" · "))),
    node("pre", { tabindex: "0" }, lines.map((text, at) => lineNode(text, at + 1, on(at + 1), texts))));
}
