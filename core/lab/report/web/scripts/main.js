// The page opens.

const explorer = new Explorer(document.getElementById("answers"));
listen(explorer);

/** Follow the address: to an answer, to filters, or to nothing but a part of the page. */
function follow() {
  const asked = stateOf(location.hash);
  explorer.show(asked ?? { ...explorer.state, answer: "" });
  if (asked) explorer.root.scrollIntoView();
}

addEventListener("hashchange", follow);
follow();

// What is folded away is printed all the same.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("main > section details:not([open])")];
  for (const details of closed) details.open = true;
});
addEventListener("afterprint", () => { for (const details of closed) details.open = false; });
