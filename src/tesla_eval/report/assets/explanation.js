// One system's explanation of a segment: marked text, picture, arithmetic, and what is special to a metric.
import { featureSteps, scoreSteps } from "./arithmetic.js";
import { element, fixed, general, shape, table } from "./dom.js";
import { drawMatch, pictureOf, placesOf } from "./match.js";

const MOST_ROWS = 40;

/**
 * The text with the words marked that no link reaches.
 * @param {string} text
 * @param {Token[]} tokens
 * @param {Set<number>} matched
 * @returns {HTMLElement}
 */
export function markedText(text, tokens, matched) {
  const shown = element("span", { dir: "auto", class: "sentence" });
  const characters = [...text]; // offsets count code points
  let end = 0;
  tokens.forEach((token, place) => {
    if (matched.has(place) || token.start < end) return;
    shown.append(characters.slice(end, token.start).join(""));
    shown.append(element("mark", { class: "tm-lost" }, characters.slice(token.start, token.end).join("")));
    end = token.end;
  });
  shown.append(characters.slice(end).join(""));
  return shown;
}

/**
 * @param {string} hypothesis
 * @param {Detail} detail
 * @param {string | null} feature
 * @param {number} width
 * @returns {(Node | string)[]}
 */
export function explanationNodes(hypothesis, detail, feature, width) {
  if (detail.sentences) return [element("p", { dir: "auto" }, hypothesis), ...coherence(detail)];
  /** @type {(Node | string)[]} */
  const nodes = [];
  const pivot = detail.features.find((one) => one.name === feature && one.pivot);
  const picture = pivot ? null : (pictureOf(detail, feature) ?? pictureOf(detail));
  const matched = new Set(
    (picture?.ties ?? []).flatMap((tie) => placesOf(tie.hypothesis, picture?.skips ?? false)),
  );
  nodes.push(
    picture
      ? element("p", { class: "tm-text" }, markedText(hypothesis, detail.hypothesis ?? [], matched))
      : element("p", { class: "tm-text", dir: "auto" }, hypothesis),
  );
  if (picture) nodes.push(drawMatch(picture, width));
  if (pivot) nodes.push(...pivotNodes(pivot));
  const steps = element("ol", { class: "tm-steps" });
  const shown = detail.features.find((one) => one.name === feature && one.objective !== undefined);
  for (const step of [
    ...(shown ? featureSteps(shown).map((text) => `${shown.name}: ${text}`) : []),
    ...scoreSteps(detail),
  ]) {
    steps.append(element("li", {}, step));
  }
  nodes.push(folded("From the links to the score", steps, featureTable(detail.features)));
  if (detail.shares?.length) nodes.push(folded("What each feature adds", sharesTable(detail.shares)));
  if (detail.covering) nodes.push(folded("Links between n-grams, and coverage", coveringTable(detail)));
  for (const one of detail.features) {
    if (one.words?.length) {
      const rows = one.words.map((word) => [word.word, fixed(word.log_probability)]);
      nodes.push(folded(`Language model ${one.name}`, table(["word", "ln P"], rows, [1])));
    }
    for (const part of one.pivots ?? []) nodes.push(folded(part.name, ...pivotNodes(part)));
  }
  if (detail.coherence) nodes.push(folded("Coherence", ...coherence(detail.coherence)));
  return nodes;
}

/** @param {string} title @param {...Node} content */
function folded(title, ...content) {
  return element("details", {}, element("summary", {}, title), ...content);
}

/** @param {Feature[]} features */
function featureTable(features) {
  const measured = /** @type {("precision" | "recall")[]} */ (["precision", "recall"]).filter((key) =>
    features.some((one) => one[key] !== undefined),
  );
  const head = ["feature", ...measured, measured.length ? "F or value" : "value", ""];
  return table(
    head,
    features.map((one) => [
      one.name,
      ...measured.map((key) => fixed(one[key])),
      fixed(one.f ?? one.value),
      bar(one.f ?? one.value),
    ]),
    head.map((_, place) => place).slice(1, -1),
  );
}

/** @param {number | null | undefined} value @param {number} most */
function bar(value, most = 1) {
  if (value === null || value === undefined || !most || Math.abs(value) > most * (1 + 1e-9)) return "";
  const made = shape("svg", { width: 120, height: 10, "aria-hidden": "true" });
  made.append(
    shape("rect", {
      class: value < 0 ? "tm-bar-minus" : "tm-bar",
      width: (120 * Math.abs(value)) / most,
      height: 10,
    }),
  );
  return made;
}

/** @param {Share[]} shares */
function sharesTable(shares) {
  const ordered = [...shares].sort((x, y) => Math.abs(y.share) - Math.abs(x.share));
  const most = Math.abs(ordered[0]?.share ?? 0);
  return table(
    ["feature", "group", "value", "weight", "share", ""],
    ordered.map((one) => [
      one.name,
      one.group,
      fixed(one.value),
      fixed(one.weight),
      fixed(one.share, 4, true),
      bar(one.share, most),
    ]),
    [2, 3, 4],
  );
}

/** @param {Feature} feature */
function pivotNodes(feature) {
  const links = [...(feature.flow ?? [])].sort((x, y) => y.weight - x.weight).slice(0, MOST_ROWS);
  const nodes = [
    element("h4", {}, `n-grams in the pivot language ${feature.pivot}`),
    table(
      ["reference", "hypothesis", "weight"],
      links.map((k) => [k.reference, k.hypothesis, general(Number(k.weight.toPrecision(3)))]),
      [2],
    ),
  ];
  for (const [side, phrases] of Object.entries(feature.segments ?? {})) {
    const rows = phrases.flatMap((phrase) =>
      phrase.translations.map((one) => [
        phrase.phrase,
        one.text,
        one.probability.toPrecision(3),
        one.carried.toPrecision(3),
      ]),
    );
    nodes.push(
      table(
        [`phrase of the ${side}`, "translation", "probability", "matched"],
        rows.slice(0, MOST_ROWS),
        [2, 3],
      ),
    );
    if (rows.length > MOST_ROWS)
      nodes.push(element("p", {}, `${rows.length - MOST_ROWS} more translations are not shown.`));
  }
  return nodes;
}

/** @param {Detail} detail */
function coveringTable(detail) {
  const links = detail.covering?.links ?? [];
  const rows = [];
  for (let at = 0; at < links.length; at += 6) {
    const [a, b, c, d, weight, essential] = links.slice(at, at + 6);
    if (!essential) continue;
    const texts = [(detail.reference ?? []).slice(a, b), (detail.hypothesis ?? []).slice(c, d)];
    rows.push([...texts.map(joined), general(weight)]);
  }
  return table(["reference", "hypothesis", "weight"], rows, [2]);
}

/** @param {Token[]} units */
function joined(units) {
  let [text, end] = ["", units[0]?.start ?? 0];
  for (const unit of units) {
    text += (unit.start > end ? " " : "") + unit.surface;
    end = unit.end;
  }
  return text;
}

/** @param {Detail} detail */
function coherence(detail) {
  const list = element("ol", {});
  for (const sentence of detail.sentences ?? []) list.append(element("li", { dir: "auto" }, sentence));
  return [list, featureTable(detail.features)];
}
