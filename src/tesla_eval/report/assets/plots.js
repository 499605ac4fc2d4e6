// Plots as inline SVG: distributions, two systems per segment, score by length, feature profile.
import { extremes } from "../../drawing/assets/arithmetic.js";
import { element, fixed, shape } from "../../drawing/assets/dom.js";
import { lengthBin, lengthLabels } from "./data.js";

const WIDTH = 460;
const HEIGHT = 320;
const LEFT = 52;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 44;

/** @typedef {{(value: number): number, ticks: number[]}} Scale */

/**
 * From values to pixels, with round numbers to mark.
 * @param {number} low @param {number} high @param {number} start @param {number} end
 * @returns {Scale}
 */
function makeScale(low, high, start, end) {
  const spread = high - low || Math.abs(high) || 1;
  const [from, to] = [low - 0.04 * spread, high + 0.04 * spread];
  const rough = (to - from) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((m) => power * m >= rough) ?? 10);
  const ticks = [];
  for (let k = Math.ceil(from / step); k <= Math.floor(to / step); k++)
    ticks.push(Number((k * step).toPrecision(12)));
  const scale = /** @type {Scale} */ ((value) => start + ((value - from) / (to - from)) * (end - start));
  scale.ticks = ticks;
  return scale;
}

/** @param {string} title @param {string} label @param {number} height @param {number} width */
function figure(title, label, height = HEIGHT, width = WIDTH) {
  const canvas = shape("svg", {
    class: "plot",
    role: "img",
    "aria-label": label,
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
  });
  const made = element("figure", {}, element("figcaption", {}, title), canvas);
  return { made, canvas };
}

/** @param {SVGElement} canvas @param {number} x @param {number} y @param {string} text @param {Record<string, string | number>} more */
function words(canvas, x, y, text, more = {}) {
  canvas.append(shape("text", { x, y, "text-anchor": "middle", ...more }, text));
}

/** @param {SVGElement} canvas @param {Scale} across @param {string} name @param {number} height */
function axisBelow(canvas, across, name, height = HEIGHT, left = LEFT) {
  for (const tick of across.ticks) {
    canvas.append(
      shape("line", { class: "grid", x1: across(tick), x2: across(tick), y1: TOP, y2: height - BOTTOM }),
    );
    words(canvas, across(tick), height - BOTTOM + 15, String(tick));
  }
  words(canvas, (left + WIDTH - RIGHT) / 2, height - 8, name);
}

/** @param {SVGElement} canvas @param {Scale} up @param {string} name */
function axisLeft(canvas, up, name) {
  for (const tick of up.ticks) {
    canvas.append(shape("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: up(tick), y2: up(tick) }));
    words(canvas, LEFT - 5, up(tick) + 4, String(tick), { "text-anchor": "end" });
  }
  const y = (TOP + HEIGHT - BOTTOM) / 2;
  words(canvas, 12, y, name, { transform: `rotate(-90 12 ${y})` });
}

/** @param {number[]} sorted @param {number} share */
function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  return sorted[below] + (place - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}

/** @param {string} text @param {number} most */
function clipped(text, most) {
  return [...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text;
}

/**
 * One row per system: 5, 25, 50, 75 and 95 % of its segments, and the system score.
 * @param {Metric} metric @param {string[]} names @param {number[]} chosen
 */
export function distributions(metric, names, chosen) {
  const order = names
    .map((_, place) => place)
    .sort((x, y) => (metric.higher_is_better ? 1 : -1) * (metric.scores[y] - metric.scores[x]));
  const pace = 26;
  const height = TOP + pace * names.length + BOTTOM;
  const { made, canvas } = figure(
    "Distribution of segment scores",
    `For each system the 5, 25, 50, 75 and 95 percent quantiles of its segments under ${metric.name}`,
    height,
  );
  const left = 16 + 7 * Math.min(26, Math.max(...names.map((name) => [...name].length)));
  const summaries = metric.segments.map((values) => {
    const sorted = Float64Array.from(values).sort();
    return [0.05, 0.25, 0.5, 0.75, 0.95].map((share) => quantile(Array.from(sorted), share));
  });
  const across = makeScale(
    Math.min(...summaries.map((s) => s[0])),
    Math.max(...summaries.map((s) => s[4])),
    left,
    WIDTH - RIGHT,
  );
  axisBelow(canvas, across, `${metric.name} of a segment`, height, left);
  order.forEach((system, row) => {
    const y = TOP + pace * row + pace / 2;
    const [p5, p25, p50, p75, p95] = summaries[system];
    const look = system === chosen[0] ? "first" : system === chosen[1] ? "second" : "other";
    words(canvas, left - 8, y + 4, clipped(names[system], 26), { "text-anchor": "end", class: look });
    const title = `${names[system]}: median ${fixed(p50, metric.digits)}, half of the segments from ${fixed(p25, metric.digits)} to ${fixed(p75, metric.digits)}`;
    canvas.append(
      shape("line", { class: `whisker ${look}`, x1: across(p5), x2: across(p95), y1: y, y2: y }),
      shape(
        "rect",
        {
          class: `box ${look}`,
          x: across(p25),
          y: y - 7,
          width: Math.max(1, across(p75) - across(p25)),
          height: 14,
          rx: 2,
        },
        shape("title", {}, title),
      ),
      shape("line", { class: `median ${look}`, x1: across(p50), x2: across(p50), y1: y - 7, y2: y + 7 }),
    );
  });
  return made;
}

/**
 * Every segment as a dot: the first system to the right, the second upwards.
 * @param {Metric} metric @param {string[]} names @param {number[]} chosen @param {(segment: number) => void} open
 */
export function againstEachOther(metric, names, chosen, open) {
  const [a, b] = chosen;
  const [xs, ys] = [metric.segments[a], metric.segments[b]];
  const better = xs.filter((x, k) => (metric.higher_is_better ? x > ys[k] : x < ys[k])).length;
  const worse = xs.filter((x, k) => (metric.higher_is_better ? x < ys[k] : x > ys[k])).length;
  const { made, canvas } = figure(
    `${clipped(names[a], 20)} against ${clipped(names[b], 20)}, segment by segment`,
    `${names[a]} is better on ${better} segments, ${names[b]} on ${worse}, ${xs.length - better - worse} are equal`,
  );
  const [low, high] = extremes(xs, ys);
  const across = makeScale(low, high, LEFT, WIDTH - RIGHT);
  const up = makeScale(low, high, HEIGHT - BOTTOM, TOP);
  axisBelow(canvas, across, clipped(names[a], 40));
  axisLeft(canvas, up, clipped(names[b], 34));
  canvas.append(
    shape("line", { class: "diagonal", x1: across(low), y1: up(low), x2: across(high), y2: up(high) }),
  );
  // One path per colour: thousands of circles would make the page slow.
  /** @type {Record<string, string[]>} */
  const dots = { other: [], second: [], first: [] };
  const places = xs.map((x, segment) => [across(x), up(ys[segment])]);
  xs.forEach((x, segment) => {
    const look =
      x === ys[segment] ? "other" : x > ys[segment] === metric.higher_is_better ? "first" : "second";
    dots[look].push(`M${places[segment].map((place) => place.toFixed(1)).join(" ")}h0`);
  });
  for (const [look, paths] of Object.entries(dots)) {
    canvas.append(
      shape("path", { class: `dots ${look}`, d: paths.join(""), "stroke-width": xs.length > 600 ? 4 : 7 }),
    );
  }
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [
      ((event.clientX - box.left) * WIDTH) / box.width,
      ((event.clientY - box.top) * HEIGHT) / box.height,
    ];
    const distances = places.map((place) => Math.hypot(place[0] - x, place[1] - y));
    const [nearest] = extremes(distances);
    if (nearest < 8) open(distances.indexOf(nearest));
  });
  made.append(
    element(
      "p",
      { class: "summary" },
      `${names[a]} is better on ${better} segments, ${names[b]} on ${worse}; ${xs.length - better - worse} are equal. A click on a dot opens the segment.`,
    ),
  );
  return made;
}

/**
 * Mean score by length of the reference, for all systems; the two chosen ones stand out.
 * @param {Core} core @param {Metric} metric @param {string[]} names @param {number[]} chosen
 */
export function byLength(core, metric, names, chosen) {
  const { made, canvas } = figure(
    "Score by reference length",
    `Mean ${metric.name} by the length of the reference`,
  );
  const labels = lengthLabels(core);
  const bins = core.lengths.map((length) => lengthBin(core, length));
  const counts = labels.map((_, bin) => bins.filter((own) => own === bin).length);
  const used = labels.map((_, bin) => bin).filter((bin) => counts[bin]);
  const means = metric.segments.map((values) => {
    const sums = labels.map(() => 0);
    values.forEach((value, segment) => (sums[bins[segment]] += value));
    return sums.map((total, bin) => total / counts[bin]);
  });
  const all = means.flatMap((row) => used.map((bin) => row[bin]));
  const up = makeScale(Math.min(...all), Math.max(...all), HEIGHT - BOTTOM, TOP);
  axisLeft(canvas, up, `mean ${metric.name}`);
  /** @param {number} bin */
  const x = (bin) =>
    LEFT + 24 + ((WIDTH - RIGHT - LEFT - 48) * used.indexOf(bin)) / Math.max(1, used.length - 1);
  for (const bin of used) {
    words(canvas, x(bin), HEIGHT - BOTTOM + 15, labels[bin]);
    words(canvas, x(bin), HEIGHT - BOTTOM + 27, `n=${counts[bin]}`, { class: "faint" });
  }
  words(canvas, (LEFT + WIDTH) / 2, HEIGHT - 4, "words in the reference");
  const order = names
    .map((_, place) => place)
    .sort((p, q) => Number(chosen.includes(p)) - Number(chosen.includes(q)));
  for (const system of order) {
    const look = system === chosen[0] ? "first" : system === chosen[1] ? "second" : "other";
    const points = used.map((bin) => `${x(bin).toFixed(1)},${up(means[system][bin]).toFixed(1)}`).join(" ");
    canvas.append(shape("polyline", { class: `line ${look}`, points }, shape("title", {}, names[system])));
    if (look !== "other") {
      for (const bin of used) {
        const title = `${names[system]}, ${labels[bin]} words: ${fixed(means[system][bin], metric.digits)}`;
        canvas.append(
          shape(
            "circle",
            { class: look, cx: x(bin), cy: up(means[system][bin]), r: 4 },
            shape("title", {}, title),
          ),
        );
      }
    }
  }
  return made;
}

/**
 * The mean of every feature for the two chosen systems; null if the metric has none.
 * @param {Metric} metric @param {string[]} names @param {number[]} chosen @param {Record<string, string>} titles
 */
export function profile(metric, names, chosen, titles) {
  const rows = metric.feature_names
    .map((name, place) => ({ name, values: chosen.map((system) => metric.feature_means[system][place]) }))
    .filter((row) => row.values.every((value) => value !== null));
  if (!rows.length) return null;
  const shown = rows
    .sort(
      (x, y) =>
        Math.abs((y.values[0] ?? 0) - (y.values[1] ?? y.values[0] ?? 0)) -
        Math.abs((x.values[0] ?? 0) - (x.values[1] ?? x.values[0] ?? 0)),
    )
    .slice(0, 24);
  const pace = 18;
  const height = TOP + pace * shown.length + BOTTOM;
  const { made, canvas } = figure(
    "Feature profile, largest differences first",
    `Means of ${shown.length} features of ${metric.name}`,
    height,
  );
  const label = (/** @type {string} */ name) => clipped(titles[name] ?? name, 40);
  const left = 16 + 5.8 * Math.max(...shown.map((row) => [...label(row.name)].length));
  const values = shown.flatMap((row) => row.values.map((value) => value ?? 0));
  const across = makeScale(Math.min(...values), Math.max(...values), left, WIDTH - RIGHT);
  axisBelow(canvas, across, "mean of the feature", height, left);
  shown.forEach((row, place) => {
    const y = TOP + pace * place + pace / 2;
    words(canvas, left - 8, y + 4, label(row.name), { "text-anchor": "end" });
    const [first, second] = row.values.map((value) => across(value ?? 0));
    if (second !== undefined)
      canvas.append(shape("line", { class: "whisker other", x1: first, x2: second, y1: y, y2: y }));
    row.values.forEach((value, k) => {
      const title = `${names[chosen[k]]}: ${row.name} ${fixed(value)}`;
      canvas.append(
        shape(
          "circle",
          { class: ["first", "second"][k], cx: across(value ?? 0), cy: y, r: 4.5 },
          shape("title", {}, title),
        ),
      );
    });
  });
  return made;
}
