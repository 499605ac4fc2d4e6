// The virtualised table of segments: only the rows in view are elements.
import { extremes } from "./arithmetic.js";
import { featureValues } from "./data.js";
import { byId, choice, element, fixed } from "./dom.js";

const ROW = 38;
const SPARE = 8;

/** The table with its controls. */
export class SegmentTable {
  /** @param {Core} core @param {string[]} names @param {(segment: number) => void} open */
  constructor(core, names, open) {
    this.core = core;
    this.names = names;
    this.open = open;
    this.metric = 0;
    this.first = 0;
    this.second = Math.min(1, names.length - 1);
    this.sorting = { key: "number", descending: false };
    this.feature = "";
    /** @type {(number | null)[][] | null} by system, of the chosen feature */
    this.values = null;
    this.query = "";
    this.shortest = 0;
    this.longest = Infinity;
    this.lost = "";
    this.onlyLinked = false;
    /** @type {string[] | null} */
    this.searched = null;
    /** @type {number[]} */
    this.order = [];
    this.current = 0;
    this.area = byId("segment-table");
    this.body = element("tbody");
    this.head = element("thead");
    this.table = element("table", { class: "segments" }, this.head, this.body);
    this.area.append(this.table);
    this.scheduled = false;
    this.area.addEventListener("scroll", () => this.schedule());
    this.area.addEventListener("keydown", (event) => this.pressed(event));
    this.body.addEventListener("click", (event) => {
      const row = /** @type {Element} */ (event.target).closest("tr[data-place]");
      if (row) this.choose(Number(row.getAttribute("data-place")));
    });
    new ResizeObserver(() => this.schedule()).observe(this.area);
    this.controls();
    this.refresh();
  }

  controls() {
    const { core, names } = this;
    const bar = byId("segment-controls");
    const search = element("input", { type: "search", name: "search", placeholder: "words in any text" });
    search.addEventListener("input", () => {
      this.query = search.value.trim().toLowerCase();
      this.refresh();
    });
    bar.append(element("label", {}, element("span", {}, "search"), search));
    bar.append(
      choice(
        "metric",
        core.metrics.map((one, place) => ({ value: String(place), text: one.name })),
        "0",
        (value) => {
          this.metric = Number(value);
          this.feature = "";
          this.values = null;
          this.featureChoice();
          this.refresh();
        },
      ),
    );
    const systems = names.map((text, place) => ({ value: String(place), text }));
    bar.append(
      choice("system", systems, String(this.first), (value) => {
        this.first = Number(value);
        this.refresh();
      }),
    );
    if (names.length > 1) {
      bar.append(
        choice("compared with", systems, String(this.second), (value) => {
          this.second = Number(value);
          this.refresh();
        }),
      );
    }
    this.features = element("span", { class: "slot" });
    bar.append(this.features);
    this.featureChoice();
    const longest = Math.max(1, extremes(core.lengths)[1]);
    bar.append(
      this.number("from", 0, longest, (value) => (this.shortest = value ?? 0)),
      this.number("to (words)", 0, longest, (value) => (this.longest = value ?? Infinity)),
    );
    if (core.lost_classes.length) {
      const options = [
        { value: "", text: "any" },
        ...core.word_classes.map((text, place) => ({ value: String(place), text })),
      ];
      bar.append(
        choice("system lost a", options, "", (value) => {
          this.lost = value;
          this.refresh();
        }),
      );
    }
    if (core.matching.segments && core.matching.segments < core.matching.of) {
      const box = element("input", { type: "checkbox", name: "linked" });
      box.addEventListener("change", () => {
        this.onlyLinked = box.checked;
        this.refresh();
      });
      bar.append(element("label", { class: "check" }, box, "only with links"));
    }
  }

  featureChoice() {
    const names = this.core.metrics[this.metric].feature_names;
    this.features?.replaceChildren();
    if (!names.length) return;
    const options = [{ value: "", text: "none" }, ...names.map((name) => ({ value: name, text: name }))];
    this.features?.append(
      choice("feature", options, "", async (value) => {
        this.feature = value;
        const all = value ? await featureValues(this.core, this.metric) : null;
        this.values = all && all.map((columns) => columns[names.indexOf(value)]);
        this.sorting = value ? { key: "feature", descending: false } : { key: "number", descending: false };
        this.refresh();
      }),
    );
  }

  /** @param {string} label @param {number} low @param {number} high @param {(value: number | null) => void} changed */
  number(label, low, high, changed) {
    const input = element("input", {
      type: "number",
      name: label,
      min: low,
      max: high,
      inputmode: "numeric",
    });
    input.addEventListener("input", () => {
      changed(input.value === "" ? null : Number(input.value));
      this.refresh();
    });
    return element("label", {}, element("span", {}, label), input);
  }

  /** Filter and sort anew. */
  refresh() {
    const { core } = this;
    const keep = [];
    for (let segment = 0; segment < core.lengths.length; segment++) {
      const length = core.lengths[segment];
      if (length < this.shortest || length > this.longest) continue;
      if (this.lost && !(core.lost_classes[this.first][segment] & (1 << Number(this.lost)))) continue;
      if (this.onlyLinked && !(String(segment) in core.matching.blocks)) continue;
      if (this.query && !this.text(segment).includes(this.query)) continue;
      keep.push(segment);
    }
    const key = this.key();
    const sign = this.sorting.descending ? -1 : 1;
    keep.sort((x, y) => sign * (key(x) - key(y)) || x - y);
    this.order = keep;
    this.current = 0;
    this.area.scrollTop = 0;
    byId("segment-count").textContent =
      keep.length === core.lengths.length
        ? `${keep.length} segments`
        : `${keep.length} of ${core.lengths.length} segments`;
    this.drawHead();
    this.draw();
  }

  /** @returns {(segment: number) => number} */
  key() {
    const scores = this.core.metrics[this.metric].segments;
    const { values, first, second } = this;
    const keys = /** @type {Record<string, (segment: number) => number>} */ ({
      number: (k) => k,
      length: (k) => this.core.lengths[k],
      first: (k) => scores[first][k],
      second: (k) => scores[second][k],
      difference: (k) => scores[first][k] - scores[second][k],
      feature: (k) => values?.[first][k] ?? -Infinity,
    });
    return keys[this.sorting.key];
  }

  /** All texts of a segment in lower case. @param {number} segment */
  text(segment) {
    const { names, sources, references, hypotheses } = this.core.texts;
    this.searched ??= this.core.lengths.map((_, k) =>
      [
        names?.[k],
        sources?.[k],
        ...references.map((stream) => stream[k]),
        ...hypotheses.map((lines) => lines[k]),
      ]
        .filter(Boolean)
        .join("\n")
        .toLowerCase(),
    );
    return this.searched[segment];
  }

  /** The columns: key, title, cell. @returns {[string, string, string][]} */
  columns() {
    /** @type {[string, string, string][]} */
    const columns = [
      ["number", "#", "number"],
      ["length", "words", "number wide"],
      ["first", this.names[this.first], "number"],
    ];
    if (this.names.length > 1) {
      columns.push(["second", this.names[this.second], "number"], ["difference", "difference", "number"]);
    }
    if (this.feature) columns.push(["feature", this.feature, "number"]);
    columns.push(["", this.core.texts.references.length ? "reference" : "text", "text"]);
    return columns;
  }

  drawHead() {
    const row = element("tr");
    for (const [key, title, look] of this.columns()) {
      const sorted = key && key === this.sorting.key;
      const cell = element("th", {
        scope: "col",
        class: look,
        "aria-sort": sorted ? (this.sorting.descending ? "descending" : "ascending") : undefined,
      });
      if (key) {
        const mark = sorted ? (this.sorting.descending ? " ▼" : " ▲") : "";
        const button = element(
          "button",
          { type: "button", "data-sort": key, title: `sort by ${title}` },
          element("span", { class: "name" }, title),
          mark,
        );
        button.addEventListener("click", () => {
          this.sorting = { key, descending: sorted ? !this.sorting.descending : key === "difference" };
          this.refresh();
          /** @type {HTMLElement | null} */ (this.head.querySelector(`[data-sort="${key}"]`))?.focus();
        });
        cell.append(button);
      } else cell.append(title);
      row.append(cell);
    }
    this.head.replaceChildren(row);
    this.table.setAttribute("aria-rowcount", String(this.order.length + 1));
  }

  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.draw();
    });
  }

  draw() {
    const view = this.area.clientHeight || 400;
    const start = Math.max(0, Math.floor(this.area.scrollTop / ROW) - SPARE);
    const end = Math.min(this.order.length, Math.ceil((this.area.scrollTop + view) / ROW) + SPARE);
    const focused = this.body.contains(document.activeElement);
    const rows = [this.spacer(start * ROW)];
    for (let place = start; place < end; place++) rows.push(this.row(place));
    rows.push(this.spacer((this.order.length - end) * ROW));
    this.body.replaceChildren(...rows);
    if (focused) this.focusCurrent();
  }

  /** @param {number} height */
  spacer(height) {
    const cell = element("td", { colspan: this.columns().length });
    const row = element("tr", { class: "spacer", "aria-hidden": "true" }, cell);
    cell.style.height = `${height}px`;
    row.hidden = height === 0;
    return row;
  }

  /** @param {number} place */
  row(place) {
    const segment = this.order[place];
    const { core, first, second } = this;
    const metric = core.metrics[this.metric];
    const [x, y] = [metric.segments[first][segment], metric.segments[second][segment]];
    const name = core.texts.names?.[segment] ?? String(segment + 1);
    const linked = String(segment) in core.matching.blocks;
    const button = element(
      "button",
      { type: "button", tabindex: place === this.current ? 0 : -1, "aria-label": `open segment ${name}` },
      name,
    );
    const row = element(
      "tr",
      { "data-place": place, "aria-rowindex": place + 2, class: linked ? undefined : "unlinked" },
      element("td", { class: "number" }, button),
      element("td", { class: "number wide" }, String(core.lengths[segment])),
      element("td", { class: "number" }, fixed(x, metric.digits)),
    );
    if (this.names.length > 1) {
      const better = metric.higher_is_better ? x - y : y - x;
      const look = better > 0 ? "better" : better < 0 ? "worse" : "";
      row.append(
        element("td", { class: "number" }, fixed(y, metric.digits)),
        element("td", { class: `number ${look}` }, fixed(x - y, metric.digits, true)),
      );
    }
    if (this.feature) row.append(element("td", { class: "number" }, fixed(this.values?.[first][segment])));
    const references = core.texts.references;
    const text = references.length
      ? (references.map((stream) => stream[segment]).find((one) => one !== null) ?? "")
      : core.texts.hypotheses[first][segment];
    row.append(element("td", { class: "text", dir: "auto" }, text.slice(0, 240)));
    return row;
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (/** @type {Element} */ (event.target).closest("thead")) return;
    const page = Math.max(1, Math.floor(this.area.clientHeight / ROW) - 2);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[
      event.key
    ];
    if (step !== undefined) {
      event.preventDefault();
      this.goTo(this.current + step);
    } else if (event.key === "Enter" && event.target === this.area) {
      event.preventDefault();
      this.choose(this.current);
    }
  }

  /** @param {number} place */
  goTo(place) {
    if (!this.order.length) return;
    this.current = Math.max(0, Math.min(this.order.length - 1, place));
    const head = this.head.offsetHeight;
    const [top, bottom] = [this.current * ROW, (this.current + 1) * ROW];
    if (top < this.area.scrollTop) this.area.scrollTop = top;
    else if (bottom > this.area.scrollTop + this.area.clientHeight - head) {
      this.area.scrollTop = bottom - this.area.clientHeight + head;
    }
    this.draw();
    this.focusCurrent();
  }

  focusCurrent() {
    const row = this.body.querySelector(`tr[data-place="${this.current}"] button`);
    if (row) /** @type {HTMLElement} */ (row).focus({ preventScroll: true });
    else this.area.focus({ preventScroll: true });
  }

  /** @param {number} place */
  choose(place) {
    if (!this.order.length) return;
    this.current = place;
    this.draw();
    this.open(this.order[place]);
  }

  /** @param {number} segment @param {number} step */
  neighbour(segment, step) {
    const place = this.order.indexOf(segment);
    const next = this.order[place + step];
    if (place < 0 || next === undefined) return null;
    this.current = place + step;
    return next;
  }
}
