// The view of one segment: source and references, and all systems under each other.
import { explanations } from "./data.js";
import { byId, choice, element, fixed } from "../../drawing/assets/dom.js";
import { explanationNodes, featureChoice } from "../../drawing/assets/explanation.js";
import { direction, drawable, legend, pictureOf } from "../../drawing/assets/match.js";

/** Shows segments in the dialog. */
export class SegmentView {
  /**
   * @param {Core} core
   * @param {string[]} names
   * @param {(segment: number, step: number) => number | null} neighbour the segment before or behind in the table
   */
  constructor(core, names, neighbour) {
    this.core = core;
    this.names = names;
    this.neighbour = neighbour;
    this.dialog = /** @type {HTMLDialogElement} */ (byId("segment-dialog"));
    this.segment = 0;
    this.metric = Math.max(
      0,
      core.metrics.findIndex((metric) => metric.explained),
    );
    /** @type {string | null} */
    this.feature = null;
    this.reference = 0;
    /** @type {() => void} */
    this.closed = () => {};
    this.dialog.addEventListener("close", () => {
      history.replaceState(null, "", location.pathname + location.search + "#segments");
      this.closed();
    });
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
    this.dialog.addEventListener("keydown", (event) => {
      const busy = /** @type {Element} */ (event.target).closest("input, select, .tm-scroll");
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step && !busy) this.move(step);
    });
  }

  /** @param {number} segment */
  open(segment) {
    this.segment = segment;
    this.reference = 0;
    if (!this.dialog.open) this.dialog.showModal();
    history.replaceState(null, "", `#segment-${segment + 1}`);
    this.dialog.scrollTop = 0;
    return this.draw();
  }

  /** @param {number} step */
  move(step) {
    const next = this.neighbour(this.segment, step);
    if (next !== null) this.open(next);
  }

  async draw() {
    const { core, segment } = this;
    const drawn = [segment, this.metric].join();
    const metric = core.metrics[this.metric];
    const found = metric.explained ? await explanations(core, metric.name, segment) : null;
    if (drawn !== [this.segment, this.metric].join()) return; // the reader went on meanwhile
    const focused = this.dialog.contains(document.activeElement)
      ? document.activeElement?.getAttribute("data-key")
      : null;
    const view = byId("segment-view");
    view.replaceChildren(this.head(), this.texts(), this.controls(found), ...this.systems(found));
    view.setAttribute("data-segment", String(segment));
    const again = focused && view.querySelector(`[data-key="${CSS.escape(focused)}"]`);
    if (again) /** @type {HTMLElement} */ (again).focus();
  }

  head() {
    /** @param {string} text @param {string} key @param {() => void} action */
    const button = (text, key, action) => {
      const made = element("button", { type: "button", "data-key": key }, text);
      made.addEventListener("click", action);
      return made;
    };
    const name = this.core.texts.names?.[this.segment];
    return element(
      "div",
      { class: "dialog-head" },
      element("h2", { id: "segment-title" }, `Segment ${this.segment + 1}`, name ? `: ${name}` : ""),
      element(
        "div",
        { class: "buttons" },
        button("← Previous", "previous", () => this.move(-1)),
        button("Next →", "next", () => this.move(1)),
        button("Close", "close", () => this.dialog.close()),
      ),
    );
  }

  texts() {
    const list = element("dl", { class: "texts" });
    const { sources, references } = this.core.texts;
    /** @type {[string, string][]} */
    const rows = sources ? [["source", sources[this.segment]]] : [];
    const own = references.map((stream) => stream[this.segment]).filter((text) => text !== null);
    own.forEach((text, place) => rows.push([own.length > 1 ? `reference ${place + 1}` : "reference", text]));
    for (const [name, text] of rows) {
      list.append(
        element(
          "div",
          { dir: direction(text) },
          element("dt", {}, name),
          element("dd", { dir: "auto" }, text || "(empty)"),
        ),
      );
    }
    return list;
  }

  /** @param {Explanation[] | null} found */
  controls(found) {
    const bar = element("div", { class: "controls" });
    const { metrics } = this.core;
    if (metrics.length > 1) {
      const options = metrics.map((metric, place) => ({ value: String(place), text: metric.name }));
      const metric = choice("metric", options, String(this.metric), (value) => {
        this.metric = Number(value);
        this.feature = null;
        this.draw();
      });
      metric.querySelector("select")?.setAttribute("data-key", "metric");
      bar.append(metric);
    }
    const details = found?.[0].references ?? [];
    if (details.length > 1) {
      const options = details.map((_, place) => ({ value: String(place), text: String(place + 1) }));
      bar.append(
        choice("links to reference", options, String(this.reference), (value) => {
          this.reference = Number(value);
          this.draw();
        }),
      );
    }
    const detail = details[this.reference];
    const features = detail ? drawable(detail.features) : [];
    if (
      features.length &&
      !features.some((one) => one.name === this.feature) &&
      !detail.features.some((one) => one.pivot && one.name === this.feature)
    ) {
      this.feature = (features.find((one) => one.similarity !== "pos") ?? features[0]).name;
    }
    const choose = (/** @type {string} */ name) => {
      this.feature = name;
      this.draw();
    };
    if (features.length > 1)
      bar.append(featureChoice(features, this.feature, this.core.feature_titles, choose));
    const pivots = detail?.features.filter((one) => one.pivot) ?? [];
    if (pivots.length) {
      const options = [
        { value: "", text: "(words)" },
        ...pivots.map((one) => ({ value: one.name, text: one.name })),
      ];
      bar.append(
        choice(
          "pivot language",
          options,
          pivots.some((one) => one.name === this.feature) ? (this.feature ?? "") : "",
          (value) => {
            this.feature = value || null;
            this.draw();
          },
        ),
      );
    }
    return bar;
  }

  /**
   * The kinds of links that are drawn.
   * @param {Explanation[]} found
   */
  kinds(found) {
    const details = found
      .map((one) => one.references[this.reference])
      .filter((one) => !one.sentences && !one.support);
    if (
      details.some((one) => one.features.some((feature) => feature.pivot && feature.name === this.feature))
    ) {
      return new Set(); // tables instead of pictures
    }
    const pictures = details.map((one) => pictureOf(one, this.feature) ?? pictureOf(one));
    return new Set(pictures.flatMap((picture) => picture?.ties.map((tie) => tie.kind) ?? []));
  }

  /** @param {Explanation[] | null} found */
  systems(found) {
    const metric = this.core.metrics[this.metric];
    const sign = metric.higher_is_better ? 1 : -1;
    const scores = metric.segments.map((values) => values[this.segment]);
    const order = scores.map((_, place) => place).sort((x, y) => sign * (scores[y] - scores[x]));
    /** @type {Node[]} */
    const nodes = [];
    if (found) {
      const kinds = this.kinds(found);
      if (kinds.size) nodes.push(legend(kinds));
    } else {
      const why = metric.explained
        ? `The links of this segment are not in this file. To see them: tesla explain -m ${metric.name.replace("tesla-", "")} -r REFERENCE SYSTEM --segment ${this.segment + 1}`
        : `${metric.name} has no links between words to show.`;
      nodes.push(element("p", { class: "note" }, why));
    }
    const width = Math.max(280, byId("segment-view").clientWidth - 26);
    for (const system of order) {
      const best = sign * (scores[order[0]] - scores[system]);
      const title = element(
        "h3",
        {},
        this.names[system],
        element("span", { class: "score", "data-system": system }, fixed(scores[system], metric.digits)),
        best > 0
          ? element("small", {}, `${fixed(best, metric.digits)} behind the best`)
          : element("small", {}, "best here"),
      );
      const text = this.core.texts.hypotheses[system][this.segment];
      const card = element("article", { class: "card tm-explanation" }, title);
      if (found) {
        const options = { feature: this.feature, width, titles: this.core.feature_titles };
        card.append(...explanationNodes(text, found[system].references[this.reference], options));
        if (found[system].references.length > 1) {
          const each = found[system].references.map((one) => fixed(one.score)).join(", ");
          card.append(element("p", { class: "note" }, `Scores against the references: ${each}.`));
        }
      } else card.append(element("p", { class: "tm-text", dir: "auto" }, text || "(empty)"));
      nodes.push(card);
    }
    return nodes;
  }
}
