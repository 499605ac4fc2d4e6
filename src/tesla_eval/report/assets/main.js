// Puts the page together once its data is read.
import { Shown, bestFirst, readBlock } from "./data.js";
import { byId, choice } from "../../drawing/assets/dom.js";
import { showFindings, showSupport } from "./findings.js";
import { againstEachOther, byLength, distributions, profile } from "./plots.js";
import { SegmentTable } from "./table.js";
import { SegmentView } from "./segment.js";
import { showReasons } from "./why.js";

/**
 * The choice of a metric and of two systems, for all views.
 * @param {Core} core @param {string[]} names @param {Shown} shown
 */
function showChoices(core, names, shown) {
  const bar = byId("choices");
  if (core.metrics.length > 1) {
    const metrics = core.metrics.map((one, place) => ({ value: String(place), text: one.name }));
    bar.append(choice("metric", metrics, "0", (value) => shown.choose({ metric: Number(value) })));
  }
  if (names.length < 2) return;
  const systems = bestFirst(core.metrics[0]).map((place) => ({ value: String(place), text: names[place] }));
  for (const key of /** @type {("first" | "second")[]} */ (["first", "second"])) {
    const title = key === "first" ? "system" : "compared with";
    const label = choice(title, systems, String(shown[key]), (value) =>
      shown.choose({ [key]: Number(value) }),
    );
    label.classList.add(key);
    bar.append(label);
  }
}

/** @param {Core} core @param {string[]} names @param {Shown} shown @param {(segment: number) => void} open */
function showPlots(core, names, shown, open) {
  const draw = () => {
    const one = core.metrics[shown.metric];
    const chosen = names.length > 1 ? [shown.first, shown.second] : [0];
    const drawn = [
      distributions(one, names, chosen),
      chosen.length > 1 ? againstEachOther(one, names, chosen, open) : null,
      byLength(core, one, names, chosen),
      profile(one, names, chosen, core.feature_titles),
    ];
    byId("plot-area").replaceChildren(...drawn.filter((plot) => plot !== null));
  };
  shown.views.push(draw);
  draw();
}

async function main() {
  const core = /** @type {Core} */ (await readBlock("tesla-core"));
  core.texts = await readBlock("tesla-texts");
  const { names } = core;
  /** @type {SegmentTable} */
  let table;
  const view = new SegmentView(core, names, (segment, step) => table.neighbour(segment, step));
  /** @param {number} segment */
  const open = (segment) => {
    view.open(segment);
  };
  const shown = new Shown(core);
  showChoices(core, names, shown);
  table = new SegmentTable(core, names, shown, open);
  view.closed = () => table.focusCurrent();
  performance.mark("interactive");
  // Each part in a task of its own, so that the page answers in between.
  const filter = (/** @type {Set<number>} */ segments, /** @type {string} */ title) =>
    table.showOnly(segments, title);
  for (const show of [showPlots, showFindings, showSupport, showReasons]) {
    await new Promise((resolve) => setTimeout(resolve));
    await show(core, names, shown, open, filter);
  }
  const openAsked = () => {
    const asked = Number(/^#segment-(\d+)$/.exec(location.hash)?.[1]);
    if (asked >= 1 && asked <= core.lengths.length) open(asked - 1);
  };
  window.addEventListener("hashchange", openAsked);
  openAsked();
  document.documentElement.setAttribute("data-ready", "");
}

main();
