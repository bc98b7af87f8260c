"use strict";
// What the page has without this script is whole; with it, areas zoom, commands are copied by a button and the result is a tree.

const three = (value) => {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(4)));
};
const spelled = (unit, value) => {
  if (unit !== "seconds") return three(value);
  for (const [size, name] of [[1, "s"], [1e-3, "ms"], [1e-6, "us"]]) {
    if (Math.abs(value) >= size) return three(value / size) + " " + name;
  }
  return value === 0 ? "0" : three(value * 1e9) + " ns";
};

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
    this.show(0, Zoom.width);
    svg.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
    svg.addEventListener("pointerdown", (event) => this.grab(event));
    svg.addEventListener("pointermove", (event) => this.move(event));
    svg.addEventListener("pointerup", () => { this.held = null; });
    svg.addEventListener("pointerleave", () => { this.held = null; this.output.textContent = this.hint(); });
    svg.addEventListener("dblclick", () => this.show(0, Zoom.width));
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("focus", () => { this.output.textContent = this.hint(); });
  }

  hint() {
    return document.activeElement === this.svg ? "keys: left and right move, + and - zoom, 0 shows all" : "";
  }

  value(unit) {
    const at = unit / Zoom.width;
    if ("log" in this.svg.dataset) return this.least * (this.most / this.least) ** at;
    return this.least + (this.most - this.least) * at;
  }

  show(from, width) {
    this.wide = Math.min(Zoom.width, Math.max(Zoom.width / 1e4, width));
    this.from = Math.min(Zoom.width - this.wide, Math.max(0, from));
    const short = (length) => Number(length.toFixed(3));
    this.area.setAttribute("viewBox", `${short(this.from)} 0 ${short(this.wide)} ${this.height}`);
    const all = this.wide === Zoom.width;
    for (const tick of this.ticks) {
      tick.first ??= tick.textContent;
      tick.textContent = all ? tick.first
        : spelled(this.svg.dataset.unit, this.value(this.from + Number(tick.dataset.at) * this.wide));
    }
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
    const place = spelled(this.svg.dataset.unit, this.value(this.from + at * this.wide));
    this.output.textContent = `at ${place}${title ? ": " + title : ""} (shift and wheel zoom, drag moves, double click shows all)`;
  }

  key(event) {
    const step = this.wide / 8;
    const keys = {
      ArrowLeft: () => this.show(this.from - step, this.wide), ArrowRight: () => this.show(this.from + step, this.wide),
      "+": () => this.scale(0.8, 0.5), "=": () => this.scale(0.8, 0.5), "-": () => this.scale(1.25, 0.5),
      "0": () => this.show(0, Zoom.width),
    };
    if (!(event.key in keys) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
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
