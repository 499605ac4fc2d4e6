// Puts the page together once its data is read.
import { readBlock, shortNames } from "./data.js";
import { byId, choice } from "./dom.js";
import { showFindings } from "./findings.js";
import { againstEachOther, byLength, distributions, profile } from "./plots.js";
import { SegmentTable } from "./table.js";
import { SegmentView } from "./segment.js";

/** @param {Core} core @param {string[]} names @param {(segment: number) => void} open */
function showPlots(core, names, open) {
  const bar = byId("plot-controls");
  let metric = 0;
  const sign = core.metrics[0].higher_is_better ? 1 : -1;
  const best = names
    .map((_, place) => place)
    .sort((x, y) => sign * (core.metrics[0].scores[y] - core.metrics[0].scores[x]));
  const chosen = best.slice(0, 2);
  const draw = () => {
    const one = core.metrics[metric];
    const drawn = [
      distributions(one, names, chosen),
      byLength(core, one, names, chosen),
      profile(one, names, chosen),
    ];
    if (chosen.length > 1) drawn.splice(1, 0, againstEachOther(one, names, chosen, open));
    byId("plot-area").replaceChildren(...drawn.filter((plot) => plot !== null));
  };
  bar.append(
    choice(
      "metric",
      core.metrics.map((one, place) => ({ value: String(place), text: one.name })),
      "0",
      (value) => {
        metric = Number(value);
        draw();
      },
    ),
  );
  const systems = names.map((text, place) => ({ value: String(place), text }));
  chosen.forEach((system, k) => {
    const label = choice(k ? "second system" : "first system", systems, String(system), (value) => {
      chosen[k] = Number(value);
      draw();
    });
    label.classList.add(k ? "second" : "first");
    bar.append(label);
  });
  draw();
}

async function main() {
  const core = /** @type {Core} */ (await readBlock("tesla-core"));
  const names = shortNames(core.systems);
  /** @type {SegmentTable} */
  let table;
  const view = new SegmentView(core, names, (segment, step) => table.neighbour(segment, step));
  /** @param {number} segment */
  const open = (segment) => {
    view.open(segment);
  };
  table = new SegmentTable(core, names, open);
  view.closed = () => table.focusCurrent();
  showPlots(core, names, open);
  showFindings(core, names, open);
  const openAsked = () => {
    const asked = Number(/^#segment-(\d+)$/.exec(location.hash)?.[1]);
    if (asked >= 1 && asked <= core.lengths.length) open(asked - 1);
  };
  window.addEventListener("hashchange", openAsked);
  openAsked();
  document.documentElement.setAttribute("data-ready", "");
}

main();
