// Elements from data. Texts become text nodes and nothing else: no string is ever read as markup.

/** An element with attributes and children. An attribute that is null or false is left out; text children stay text. */
function node(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.startsWith("aria-")) made.setAttribute(name, String(value));
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null));
  return made;
}

/** A number as the rest of the report writes it. */
function number(value, digits = 4) {
  return value === null ? "not measured" : value.toFixed(digits);
}
