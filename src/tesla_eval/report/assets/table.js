// The virtualised table of segments: only the rows in view are elements.
import { direction } from "../../drawing/assets/match.js";
import { featureValues } from "./data.js";
import { differences } from "./differences.js";
import { byId, choice, element, fixed, save } from "../../drawing/assets/dom.js";

const LINE = 40;
const SPARE = 4;
const NARROW = "(max-width: 640px)";
/** What a filter by kind of error is called. @type {Record<string, string>} */
const KINDS = {
  other: "another word lost",
  untranslated: "untranslated word",
  dropped: "dropped content",
  inserted: "added text",
  repeated: "repetition",
};

/** The table with its controls. */
export class SegmentTable {
  /** @param {Core} core @param {string[]} names @param {Shown} shown @param {(segment: number) => void} open */
  constructor(core, names, shown, open) {
    this.core = core;
    this.names = names;
    this.shown = shown;
    this.open = open;
    this.metric = shown.metric;
    this.sorting = { key: "number", descending: false };
    this.feature = "";
    /** @type {(number | null)[][] | null} by system, of the chosen feature */
    this.values = null;
    this.query = "";
    /** @type {Record<string, number | null>} the ends of what is kept; null: no end */
    this.ends = {};
    this.kind = "";
    this.onlyLinked = false;
    /** @type {Record<string, string>} the chosen name of each grouping, such as documents */
    this.groups = {};
    /** @type {Set<number> | null} what another part of the page led to */
    this.only = null;
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
    shown.views.push(() => this.follow());
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
    this.features = element("span", { class: "slot" });
    bar.append(this.features);
    this.featureChoice();
    bar.append(this.number("words from", "shortest"), this.number("words to", "longest"));
    bar.append(this.number("score from", "lowest"), this.number("score to", "highest"));
    if (names.length > 1) bar.append(this.number("difference from", "apart"));
    if (core.lost_classes.length) {
      const options = core.word_classes.map((name, place) => ({
        value: String(place),
        text: KINDS[name] ?? `${name} lost`,
      }));
      bar.append(
        choice("kind of error", [{ value: "", text: "any" }, ...options], "", (value) => {
          this.kind = value;
          this.refresh();
        }),
      );
    }
    for (const [title, keys] of Object.entries(core.texts.groups)) {
      const options = [...new Set(keys)].map((name) => ({ value: name, text: name }));
      bar.append(
        choice(title, [{ value: "", text: "any" }, ...options], "", (value) => {
          this.groups[title] = value;
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
    for (const format of /** @type {("csv" | "json")[]} */ (["csv", "json"])) {
      const button = element("button", { type: "button" }, `Save as ${format.toUpperCase()}`);
      button.addEventListener("click", () => save(`segments.${format}`, this.exported()[format]));
      bar.append(button);
    }
  }

  /** Shows some segments only, until the reader wants all again. @param {Set<number>} segments @param {string} title */
  showOnly(segments, title) {
    this.only = segments;
    const note = byId("segment-only");
    const button = element("button", { type: "button" }, "Show all segments");
    button.addEventListener("click", () => {
      this.only = null;
      note.replaceChildren();
      this.refresh();
      this.area.focus();
    });
    note.replaceChildren(`Only: ${title}. `, button);
    this.refresh();
    byId("segments").scrollIntoView();
    this.area.focus({ preventScroll: true });
  }

  /** Another metric or other systems were chosen. */
  follow() {
    if (this.metric !== this.shown.metric) {
      this.metric = this.shown.metric;
      this.feature = "";
      this.values = null;
      this.featureChoice();
    }
    this.refresh();
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

  /** @param {string} label @param {string} key */
  number(label, key) {
    const input = element("input", { type: "number", name: label, step: "any", inputmode: "decimal" });
    input.addEventListener("input", () => {
      this.ends[key] = input.value === "" ? null : Number(input.value);
      this.refresh();
    });
    return element("label", {}, element("span", {}, label), input);
  }

  /** Filter and sort anew. */
  refresh() {
    const { core } = this;
    const keep = core.lengths.map((_, segment) => segment).filter((segment) => this.keeps(segment));
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

  /** Whether a segment passes all filters. @param {number} segment */
  keeps(segment) {
    const { core, ends } = this;
    const { first, second } = this.shown;
    const scores = core.metrics[this.metric].segments;
    /** @param {number} value @param {string} low @param {string} high */
    const within = (value, low, high) =>
      value >= (ends[low] ?? -Infinity) && value <= (ends[high] ?? Infinity);
    return (
      within(core.lengths[segment], "shortest", "longest") &&
      within(scores[first][segment], "lowest", "highest") &&
      (ends.apart == null || Math.abs(scores[first][segment] - scores[second][segment]) >= ends.apart) &&
      (!this.kind || Boolean(core.lost_classes[first][segment] & (1 << Number(this.kind)))) &&
      (this.only?.has(segment) ?? true) &&
      Object.entries(this.groups).every(
        ([title, name]) => !name || core.texts.groups[title][segment] === name,
      ) &&
      (!this.onlyLinked || String(segment) in core.matching.blocks) &&
      (!this.query || this.text(segment).includes(this.query))
    );
  }

  /** @returns {(segment: number) => number} */
  key() {
    const scores = this.core.metrics[this.metric].segments;
    const { values } = this;
    const { first, second } = this.shown;
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
      ["first", this.names[this.shown.first], "number first"],
    ];
    if (this.names.length > 1) {
      columns.push(
        ["second", this.names[this.shown.second], "number second"],
        ["difference", "difference", "number"],
      );
    }
    if (this.feature) columns.push(["feature", this.feature, "number"]);
    columns.push(["", "texts", "text"]);
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
      } else {
        cell.append(title);
        cell.dir = direction(this.core.texts.hypotheses[0].slice(0, 20).join(""));
      }
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

  /** The height of a row: the same for all, so that only those in view need to be there. */
  get height() {
    const lines = this.texts(0).length;
    return LINE * (lines + (matchMedia(NARROW).matches ? 1 : 0)) + 9;
  }

  draw() {
    const view = this.area.clientHeight || 400;
    const { height } = this;
    this.area.style.setProperty("--row", `${height}px`);
    const start = Math.max(0, Math.floor(this.area.scrollTop / height) - SPARE);
    const end = Math.min(this.order.length, Math.ceil((this.area.scrollTop + view) / height) + SPARE);
    const focused = this.body.contains(document.activeElement);
    const rows = [this.spacer(start * height)];
    for (let place = start; place < end; place++) rows.push(this.row(place));
    rows.push(this.spacer((this.order.length - end) * height));
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
    const { core } = this;
    const { first, second } = this.shown;
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
    const cell = element("td", { class: "text" });
    const texts = this.texts(segment);
    const outputs = texts.slice(-2).map(([, text]) => text);
    const marks = this.names.length > 1 ? differences(outputs[0], outputs[1]) : outputs.map((text) => [text]);
    texts.forEach(([name, text, look], place) => {
      const parts = look ? marks[place - texts.length + marks.length] : [text];
      cell.append(
        element("div", { class: `line ${look}`, dir: "auto" }, element("b", { dir: "ltr" }, name), ...parts),
      );
    });
    row.append(cell);
    return row;
  }

  /** The texts of a row: name, text, look. @param {number} segment @returns {[string, string, string][]} */
  texts(segment) {
    const { sources, references, hypotheses } = this.core.texts;
    /** @type {[string, string, string][]} */
    const rows = sources ? [["source", sources[segment], ""]] : [];
    const reference = references.map((stream) => stream[segment]).find((one) => one !== null);
    if (references.length) rows.push(["reference", reference ?? "", ""]);
    const { first, second } = this.shown;
    rows.push([this.names[first], hypotheses[first][segment], "first"]);
    if (this.names.length > 1) rows.push([this.names[second], hypotheses[second][segment], "second"]);
    return rows;
  }

  /** The rows that pass the filters, in their order, as CSV and as JSON. */
  exported() {
    const scores = this.core.metrics[this.metric].segments;
    const { first, second } = this.shown;
    const rows = this.order.map((segment) => {
      /** @type {Record<string, string | number | null>} */
      const row = { segment: segment + 1 };
      if (this.core.texts.names) row.name = this.core.texts.names[segment];
      row.words = this.core.lengths[segment];
      row[`${this.names[first]} score`] = scores[first][segment];
      if (this.names.length > 1) {
        row[`${this.names[second]} score`] = scores[second][segment];
        row.difference = scores[first][segment] - scores[second][segment];
      }
      if (this.feature) row[this.feature] = this.values?.[first][segment] ?? null;
      for (const [name, text] of this.texts(segment)) row[name] = text;
      return row;
    });
    const head = Object.keys(rows[0] ?? {});
    const lines = [head, ...rows.map((row) => head.map((key) => row[key]))];
    /** @param {string | number | null} value */
    const cell = (value) => {
      const text = String(value ?? "");
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return {
      csv: lines.map((line) => `${line.map(cell).join(",")}\r\n`).join(""),
      json: JSON.stringify(rows, null, 1),
    };
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (/** @type {Element} */ (event.target).closest("thead")) return;
    const page = Math.max(1, Math.floor(this.area.clientHeight / this.height) - 1);
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
    const [top, bottom] = [this.current * this.height, (this.current + 1) * this.height];
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
