"use strict";
// The page is whole without this script. With it, areas zoom, plots show their values at the pointer, a button copies
// a command, and the result is a tree.

const three = (value) => {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(4)));
};
const withUnit = (number, unit) => unit ? `${number} ${unit}` : String(number);

// The lines of a plot: {name, kind, x, y}. A line without places has those of the line before.
const linesOf = (svg) => {
  const numbers = (text) => text.split(" ").map(Number);
  let x = [];
  return [...svg.querySelectorAll("g[data-y]")].map((g) => {
    if (g.dataset.x) x = numbers(g.dataset.x);
    return {name: g.dataset.name, kind: g.dataset.kind, x, y: numbers(g.dataset.y)};
  });
};

// Areas zoom and move. A line at the pointer shows the values of a plot.
class Zoom {
  static width = 1000;

  constructor(svg) {
    this.svg = svg;
    this.area = svg.querySelector(".area");
    this.height = this.area.viewBox.baseVal.height;
    this.output = svg.nextElementSibling.querySelector("output");
    this.ticks = [...svg.querySelectorAll("[data-at]")];
    this.least = Number(svg.dataset.least);
    this.most = Number(svg.dataset.most);
    this.lines = linesOf(svg);
    this.places = [...new Set(this.lines.flatMap((line) => line.x))].sort((a, b) => a - b);
    this.cross = document.createElementNS(svg.namespaceURI, "line");
    this.cross.setAttribute("class", "cross");
    this.cross.setAttribute("y2", this.height);
    svg.append(this.cross);
    this.tip = element("div", undefined, svg.parentElement);
    this.tip.className = "tip";
    this.hide();
    this.show(0, Zoom.width);
    svg.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
    svg.addEventListener("pointerdown", (event) => this.grab(event));
    svg.addEventListener("pointermove", (event) => this.move(event));
    svg.addEventListener("pointerup", () => { this.held = null; });
    svg.addEventListener("pointerleave", () => { this.held = null; this.hide(); });
    svg.addEventListener("dblclick", () => this.show(0, Zoom.width));
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("focus", () => this.hide());
    svg.addEventListener("blur", () => this.hide());
  }

  hint() {
    if (document.activeElement !== this.svg) return "";
    return `keys: ${this.places.length ? "shift and left or right show values, " : ""}left and right move, + and - zoom, 0 shows all`;
  }

  hide() {
    this.at = null;
    this.cross.style.visibility = this.tip.style.visibility = "hidden";
    this.output.textContent = this.hint();
  }

  // `at`: a part of the width. Of a plot, the nearest place with a value is shown.
  point(at) {
    if (this.places.length) {
      const parts = this.places.map((value) => this.part(value));
      this.at = parts.reduce((best, one, i) => Math.abs(one - at) < Math.abs(parts[best] - at) ? i : best, 0);
      at = parts[this.at];
      this.fill(this.places[this.at]);
      this.tip.style.left = at < 0.5 ? `calc(${100 * at}% + 12px)` : "auto";
      this.tip.style.right = at < 0.5 ? "auto" : `calc(${100 * (1 - at)}% + 12px)`;
    }
    const inside = at >= 0 && at <= 1;
    for (const name of ["x1", "x2"]) this.cross.setAttribute(name, `${(100 * at).toFixed(3)}%`);
    this.cross.style.visibility = inside ? "visible" : "hidden";
    this.tip.style.visibility = inside && this.places.length ? "visible" : "hidden";
  }

  fill(place) {
    const {label, size, unit, valueUnit} = this.svg.dataset;
    this.tip.replaceChildren();
    element("b", `${label} ${withUnit(three(place / size), unit)}`, this.tip);
    for (const line of this.lines) {
      const at = line.x.indexOf(place);
      if (at < 0 || (line.y[at] === 0 && this.lines.length > 3)) continue;
      const row = element("p", undefined, this.tip);
      element("i", undefined, row).className = `k-${line.kind}`;
      row.append(`${line.name} `);
      element("b", withUnit(three(line.y[at]), valueUnit), row);
    }
  }

  value(unit) {
    const at = unit / Zoom.width;
    if ("log" in this.svg.dataset) return this.least * (this.most / this.least) ** at;
    return this.least + (this.most - this.least) * at;
  }

  // The part of the width at which a value is.
  part(value) {
    const whole = "log" in this.svg.dataset ? Math.log(value / this.least) / Math.log(this.most / this.least)
      : (value - this.least) / (this.most - this.least);
    return (whole * Zoom.width - this.from) / this.wide;
  }

  show(from, width) {
    this.wide = Math.min(Zoom.width, Math.max(Zoom.width / 1e4, width));
    this.from = Math.min(Zoom.width - this.wide, Math.max(0, from));
    const short = (length) => Number(length.toFixed(3));
    this.area.setAttribute("viewBox", `${short(this.from)} 0 ${short(this.wide)} ${this.height}`);
    const all = this.wide === Zoom.width;
    for (const tick of this.ticks) {
      tick.first ??= tick.textContent;
      tick.textContent = all ? tick.first : this.spelled(this.from + Number(tick.dataset.at) * this.wide);
    }
  }

  // The value at a place of the area, with as many digits as a hundredth of what is shown needs.
  spelled(at) {
    const {size, unit} = this.svg.dataset;
    const value = this.value(at) / size;
    const next = this.value(at + this.wide / 100) / size;
    const digits = "whole" in this.svg.dataset ? 0 : Math.min(9, Math.max(0, Math.ceil(-Math.log10(next - value))));
    return withUnit(value.toLocaleString("en-US", {maximumFractionDigits: digits}), unit);
  }

  scale(factor, at) { this.show(this.from + at * this.wide * (1 - factor), this.wide * factor); }

  where(event) {
    const box = this.area.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  }

  wheel(event) {
    if (!event.ctrlKey && !event.shiftKey) return;  // the page scrolls
    event.preventDefault();
    this.scale((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, this.where(event));
  }

  grab(event) {
    this.held = {x: this.where(event), from: this.from};
    this.svg.setPointerCapture(event.pointerId);
  }

  move(event) {
    const at = this.where(event);
    if (this.held) this.show(this.held.from - (at - this.held.x) * this.wide, this.wide);
    const title = event.target.closest?.("path")?.querySelector("title")?.textContent;
    this.point(at);
    this.output.textContent = `at ${this.spelled(this.from + at * this.wide)}${title ? ": " + title : ""} (shift and wheel zoom, drag moves, double click shows all)`;
  }

  key(event) {
    if (event.shiftKey && this.places.length && ["ArrowLeft", "ArrowRight"].includes(event.key)) {
      event.preventDefault();
      this.step(event.key === "ArrowLeft" ? -1 : 1);
      return;
    }
    const step = this.wide / 8;
    const keys = {
      ArrowLeft: () => this.show(this.from - step, this.wide), ArrowRight: () => this.show(this.from + step, this.wide),
      "+": () => this.scale(0.8, 0.5), "=": () => this.scale(0.8, 0.5), "-": () => this.scale(1.25, 0.5),
      "0": () => this.show(0, Zoom.width),
    };
    if (!(event.key in keys) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
    this.hide();
  }

  // To the next place with a value.
  step(by) {
    const next = this.at === null ? 0 : Math.min(this.places.length - 1, Math.max(0, this.at + by));
    this.point(this.part(this.places[next]));
  }
}

// Marks that turn the direction of text, and controls, are spelled.
const plain = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
  (mark) => "\\u" + mark.charCodeAt(0).toString(16).padStart(4, "0"));

const element = (name, text, parent) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
};

// Branches are filled when they are opened: a result may have a great many.
const branch = (key, value, parent) => {
  if (value === null || typeof value !== "object") return element("div", plain(`${key}: ${JSON.stringify(value)}`), parent);
  const keys = Object.keys(value);
  const details = element("details", undefined, parent);
  element("summary", plain(key) + ` ${Array.isArray(value) ? `[${keys.length}]` : `{${keys.length}}`}`, details);
  details.addEventListener("toggle", () => {
    if (details.childElementCount > 1) return;
    for (const name of keys) branch(name, value[name], details);
  });
  return details;
};

for (const svg of document.querySelectorAll("svg.zoom")) new Zoom(svg);

for (const row of document.querySelectorAll(".copied")) {
  const button = element("button", "Copy", row);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(row.querySelector("pre").textContent);
      button.textContent = "Copied";
    } catch {  // a file that was opened from a disk may not be allowed to
      getSelection().selectAllChildren(row.querySelector("pre"));
      button.textContent = "Selected";
    }
  });
}

const result = document.getElementById("result");
if (result) {
  const tree = document.getElementById("tree");
  const value = JSON.parse(result.textContent);
  element("h2", "The result", tree);
  for (const name of Object.keys(value)) branch(name, value[name], tree);
  const save = element("button", "Save as JSON", tree);
  save.addEventListener("click", () => {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([result.textContent], {type: "application/json"}));
    link.download = `${value.schema.split("/")[0]}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  });
}
