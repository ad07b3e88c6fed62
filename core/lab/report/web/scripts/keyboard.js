// Keys of the answers. Single letters act only while nothing is being typed.

const PAGE = 10;

function keysOf(explorer) {
  return {
    ArrowDown: () => explorer.step(1), ArrowUp: () => explorer.step(-1), j: () => explorer.step(1), k: () => explorer.step(-1),
    PageDown: () => explorer.step(PAGE), PageUp: () => explorer.step(-PAGE),
    "]": () => explorer.sideways(1), "[": () => explorer.sideways(-1),
    Enter: () => explorer.pane.focus(), Escape: () => explorer.close(),
  };
}

function listen(explorer) {
  const keys = keysOf(explorer);
  const search = explorer.form.elements.text;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      search.focus();
      return;
    }
    if (event.key === "Escape" && typing) return explorer.list.box.focus();
    const inside = explorer.list.box.contains(event.target) || (explorer.pane.contains(event.target) && !event.key.startsWith("Arrow") && !event.key.startsWith("Page") && event.key !== "Enter");
    if (typing || !inside || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
}
