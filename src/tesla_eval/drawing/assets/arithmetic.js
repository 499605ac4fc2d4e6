// From the links to the score, step by step; a step is only told where its numbers agree.
import { fixed, general } from "./dom.js";

const ALPHA = 0.8;
const PRECISION_SHARE = 0.25;
const MOST_TERMS = 8;

/** @param {number} x @param {number} y */
function close(x, y) {
  return Math.abs(x - y) <= 1e-9 * Math.max(1, Math.abs(x), Math.abs(y));
}

/**
 * The least and the largest value; spreading many values as arguments would overflow the stack.
 * @param {...Iterable<number>} lists
 * @returns {[number, number]}
 */
export function extremes(...lists) {
  let [low, high] = [Infinity, -Infinity];
  for (const values of lists) {
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return [low, high];
}

/** @param {number[]} values */
export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/**
 * How precision, recall and F of a feature come of its links.
 * @param {Feature} feature
 * @returns {string[]}
 */
export function featureSteps(feature) {
  const { flow = [], precision: p = 0, recall: r = 0, f = 0, objective = 0 } = feature;
  const terms = flow.map(
    (link) => `${general(link.similarity)} × ${general(Number(link.weight.toPrecision(4)))}`,
  );
  const more = terms.length > MOST_TERMS ? ` + ${terms.length - MOST_TERMS} more` : "";
  const total = general(objective);
  const shown = terms.slice(0, MOST_TERMS).join(" + ") || "0";
  const below = ALPHA * p + (1 - ALPHA) * r;
  return [
    `matched = sum of similarity × weight over ${terms.length} links = ${shown}${more} = ${total}`,
    `precision = ${total} / ${general(feature.hypothesis_weight ?? 0)} (weight of the hypothesis) = ${fixed(p)}`,
    `recall = ${total} / ${general(feature.reference_weight ?? 0)} (weight of the reference) = ${fixed(r)}`,
    below && close((p * r) / below, f) ? `F = P × R / (0.8 P + 0.2 R) = ${fixed(f)}` : `F = ${fixed(f)}`,
  ];
}

/**
 * How the score against one reference comes of its features.
 * @param {Detail} detail
 * @returns {string[]}
 */
export function scoreSteps(detail) {
  const measures = (detail.features ?? []).flatMap((one) => (one.f === undefined ? [] : [one.f]));
  if (detail.covering) return coveringSteps(detail, detail.covering.covered);
  if (detail.shares?.length) {
    const total = sum(detail.shares.map((one) => one.share));
    return [
      `linear score = sum of ${detail.shares.length} feature shares = ${fixed(total)}`,
      `score = ${fixed(detail.score)}`,
    ];
  }
  if (measures.length && close(sum(measures) / measures.length, detail.score)) {
    const shown =
      measures
        .slice(0, 12)
        .map((f) => fixed(f))
        .join(" + ") + (measures.length > 12 ? " + …" : "");
    return [
      `score = mean of ${measures.length} F values = (${shown}) / ${measures.length} = ${fixed(detail.score)}`,
    ];
  }
  return [`score = ${fixed(detail.score)}`];
}

/** @param {Detail} detail @param {Record<string, [number, number]>} covered */
function coveringSteps(detail, covered) {
  const names = ["reference", "hypothesis"];
  const sums = names.map((side) => covered[side][0]);
  const sizes = names.map((side) => covered[side][1]);
  const steps = ["recall", "precision"].flatMap((name, side) =>
    sizes[side]
      ? [
          `${name} = ${general(sums[side])} of ${sizes[side]} n-grams of the ${names[side]} ` +
            `are covered = ${fixed(sums[side] / sizes[side])}`,
        ]
      : [],
  );
  const below = sizes[0] + PRECISION_SHARE * sizes[1];
  if (below && close((sums[0] + PRECISION_SHARE * sums[1]) / below, detail.score)) {
    const shown = `(${general(sums[0])} + 0.25 × ${general(sums[1])}) / (${sizes[0]} + 0.25 × ${sizes[1]})`;
    return [...steps, `score = recall and, by a quarter, precision = ${shown} = ${fixed(detail.score)}`];
  }
  return [...steps, `score = ${fixed(detail.score)}`];
}
