// One system's explanation of a segment: marked text, picture, arithmetic, and what is special to a metric.
import { featureSteps, scoreSteps } from "./arithmetic.js";
import { element, fixed, general, shape, table } from "./dom.js";
import { direction, drawMatch, pictureOf, placesOf } from "./match.js";

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
 * The nodes of an explanation against one reference; `titles` are the names of features in words.
 * @param {string} hypothesis
 * @param {Detail} detail
 * @param {{feature: string | null, width: number, titles: Record<string, string>}} options
 * @returns {(Node | string)[]}
 */
export function explanationNodes(hypothesis, detail, { feature, width, titles }) {
  if (detail.support) return [supportTable(detail.support)];
  if (detail.sentences) return [element("p", { dir: "auto" }, hypothesis), ...coherence(detail, titles)];
  /** @type {(Node | string)[]} */
  const nodes = [];
  const pivot = detail.features.find((one) => one.name === feature && one.pivot);
  const picture = pivot ? null : (pictureOf(detail, feature) ?? pictureOf(detail));
  /** @param {"reference" | "hypothesis"} side @param {string} text */
  const marked = (side, text) => {
    const ties = picture?.ties ?? [];
    const matched = new Set(ties.flatMap((tie) => placesOf(tie[side], picture?.skips ?? false)));
    const tokens = ties.length ? (detail[side] ?? []) : [];
    return element("p", { class: "tm-text" }, markedText(text, tokens, matched));
  };
  if (detail.text !== undefined) {
    nodes.push(element("b", { class: "tm-side", dir: direction(detail.text) }, "reference"));
    nodes.push(marked("reference", detail.text));
    nodes.push(element("b", { class: "tm-side", dir: direction(hypothesis) }, "hypothesis"));
  }
  nodes.push(marked("hypothesis", hypothesis));
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
  nodes.push(folded("From the links to the score", steps, featureTable(detail.features, titles)));
  if (detail.shares?.length) nodes.push(folded("What each feature adds", sharesTable(detail.shares, titles)));
  if (detail.covering) nodes.push(folded("Links between n-grams, and coverage", coveringTable(detail)));
  for (const one of detail.features) {
    if (one.words?.length) {
      const rows = one.words.map((word) => [word.word, fixed(word.log_probability)]);
      nodes.push(folded(`Language model ${one.name}`, table(["word", "ln P"], rows, [1])));
    }
    for (const part of one.pivots ?? []) nodes.push(folded(part.name, ...pivotNodes(part)));
  }
  if (detail.coherence) nodes.push(folded("Coherence", ...coherence(detail.coherence, titles)));
  return nodes;
}

/**
 * The sentences of a summary beside the closest ones of its source; words that the source does not support are marked.
 * @param {Support[]} sentences
 */
export function supportTable(sentences) {
  const rows = sentences.map((one) => {
    const places = one.unsupported.map(({ start, end }) => ({
      surface: "",
      start: start - one.start,
      end: end - one.start,
    }));
    const unknown = one.unknown.map((word) => word.surface).join(", ");
    const against = [
      ...(unknown ? [`not in the source: ${unknown}`] : []),
      ...one.contradictions.map((c) => `${c.kind}: ${c.hypothesis} / ${c.reference}`),
    ];
    const sentence = element("div", {}, markedText(one.sentence, places, new Set()));
    if (against.length) sentence.append(element("small", {}, against.join("; ")));
    return [fixed(one.score), sentence, one.source.text];
  });
  return table(["support", "sentence", "closest in the source"], rows, [0]);
}

/** @param {string} title @param {...Node} content */
function folded(title, ...content) {
  return element("details", {}, element("summary", {}, title), ...content);
}

/** @param {Feature[]} features @param {Record<string, string>} titles */
function featureTable(features, titles) {
  const measured = /** @type {("precision" | "recall")[]} */ (["precision", "recall"]).filter((key) =>
    features.some((one) => one[key] !== undefined),
  );
  const head = ["feature", ...measured, measured.length ? "F or value" : "value", "", "what it measures"];
  return table(
    head,
    features.map((one) => [
      one.name,
      ...measured.map((key) => fixed(one[key])),
      fixed(one.f ?? one.value),
      bar(one.f ?? one.value),
      titles[one.name] ?? "",
    ]),
    head.map((_, place) => place).slice(1, -2),
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

/** @param {Share[]} shares @param {Record<string, string>} titles */
function sharesTable(shares, titles) {
  const ordered = [...shares].sort((x, y) => Math.abs(y.share) - Math.abs(x.share));
  const most = Math.abs(ordered[0]?.share ?? 0);
  return table(
    ["feature", "group", "value", "weight", "share", "", "what it measures"],
    ordered.map((one) => [
      one.name,
      one.group,
      fixed(one.value),
      fixed(one.weight),
      fixed(one.share, 4, true),
      bar(one.share, most),
      titles[one.name] ?? "",
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

/** @param {Detail} detail @param {Record<string, string>} titles */
function coherence(detail, titles) {
  const list = element("ol", {});
  for (const sentence of detail.sentences ?? []) list.append(element("li", { dir: "auto" }, sentence));
  const terms = Object.entries(detail.matrix ?? {}).slice(0, MOST_ROWS);
  const head = ["term", ...(detail.sentences ?? []).map((_, place) => String(place + 1))];
  const roles = terms.map(([term, cells]) => [term, ...cells.map((cell) => cell.join(" "))]);
  return [list, ...(terms.length ? [table(head, roles)] : []), featureTable(detail.features, titles)];
}

/**
 * The features whose links can be drawn, to choose one from.
 * @param {Feature[]} features
 * @param {string | null} chosen
 * @param {Record<string, string>} titles
 * @param {(name: string) => void} choose
 */
export function featureChoice(features, chosen, titles, choose) {
  const group = element("fieldset", { class: "chips" }, element("legend", {}, "links of"));
  const name = `feature-${++groups}`;
  for (const one of features) {
    const input = element("input", {
      type: "radio",
      name,
      value: one.name,
      checked: one.name === chosen,
      "data-key": `feature ${one.name}`,
    });
    input.addEventListener("change", () => choose(one.name));
    group.append(element("label", { title: one.name }, input, titles[one.name] ?? one.name));
  }
  return group;
}
let groups = 0;
