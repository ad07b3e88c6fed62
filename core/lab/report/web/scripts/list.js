// A list that holds elements only for what can be seen, so that ten thousand rows scroll like ten.

const BEYOND = 6;

class VirtualList {
  /** `draw(item)` makes the content of a row; `choose(place)` is told of a click. */
  constructor(box, { draw, choose }) {
    this.box = box;
    this.space = box.querySelector(".space");
    this.draw = draw;
    this.items = [];
    this.shown = new Map();
    this.chosen = -1;
    // Read once: asking for a style between two insertions would make the browser lay the page out for each row.
    this.height = parseFloat(getComputedStyle(box).getPropertyValue("--row"));
    box.addEventListener("scroll", () => this.soon(), { passive: true });
    new ResizeObserver(() => this.soon()).observe(box);
    box.addEventListener("click", (event) => {
      const row = event.target.closest("[data-place]");
      if (row) choose(Number(row.dataset.place));
    });
  }

  show(items) {
    this.items = items;
    this.shown.forEach((row) => row.remove());
    this.shown.clear();
    this.space.style.height = `${items.length * this.height}px`;
    this.update();
  }

  /** Mark the row at `place` and bring it into view; -1 marks none. */
  mark(place) {
    this.chosen = place;
    for (const [at, row] of this.shown) row.setAttribute("aria-selected", at === place);
    if (place < 0) return this.box.removeAttribute("aria-activedescendant");
    const top = place * this.height;
    const bottom = top + this.height;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (bottom > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = bottom - this.box.clientHeight;
    this.update();
    this.box.setAttribute("aria-activedescendant", `row-${place}`);
  }

  soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.update();
    });
  }

  update() {
    const { scrollTop, clientHeight } = this.box;
    const first = Math.max(0, Math.floor(scrollTop / this.height) - BEYOND);
    const last = Math.min(this.items.length, Math.ceil((scrollTop + clientHeight) / this.height) + BEYOND);
    for (const [place, row] of this.shown) {
      if (place < first || place >= last) {
        row.remove();
        this.shown.delete(place);
      }
    }
    const added = [];
    for (let place = first; place < last; place += 1) if (!this.shown.has(place)) added.push(this.made(place));
    this.space.append(...added);
  }

  made(place) {
    const row = node("div", {
      id: `row-${place}`, class: "row", role: "option", "data-place": place, "aria-posinset": place + 1,
      "aria-setsize": this.items.length, "aria-selected": place === this.chosen,
    }, this.draw(this.items[place]));
    row.style.transform = `translateY(${place * this.height}px)`;
    this.shown.set(place, row);
    return row;
  }
}
