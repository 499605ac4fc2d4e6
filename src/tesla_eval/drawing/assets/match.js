// The picture of a match: two texts one above the other, words joined by links. Long texts are broken into rows where the
// fewest links are cut; a link between rows is not drawn, both of its ends carry the same letter instead.
import { element, general, shape } from "./dom.js";

/** From the closest to the loosest: what a kind of link means, and its line pattern. */
export const KINDS = {
  exact: { label: "same word", dash: "" },
  lemma: { label: "same lemma", dash: "9 3" },
  synonym: { label: "synonym", dash: "6 3 2 3" },
  vector: { label: "similar by vectors", dash: "3 3" },
  pos: { label: "same part of speech only", dash: "1.5 3.5" },
};
const ORDER = Object.keys(KINDS);
const GAP = 5;
const PADDING = 6;
const HEIGHT = 24;
const TAGGED = 36;
const BETWEEN = 58;
const ROW_GAP = 26;
const MARGIN = 8;
const LABEL = 18;
const LONGEST = 28;
const SLACK = 2;
const SIDES = /** @type {("reference" | "hypothesis")[]} */ (["reference", "hypothesis"]);

/**
 * The picture of a feature against one reference; null if it has no links between words.
 * @param {Detail} detail
 * @param {string | null} name
 * @returns {Picture | null}
 */
export function pictureOf(detail, name = null) {
  const reference = detail.reference ?? [];
  const hypothesis = detail.hypothesis ?? [];
  /** @param {Token} token @param {number} place @param {Token[]} tokens */
  const word = (token, place, tokens) => ({
    text: token.surface,
    tag: token.pos ?? "",
    function: token.function ?? false,
    seam: place ? seam(tokens[place - 1], token) : 0,
  });
  const words = { reference: reference.map(word), hypothesis: hypothesis.map(word) };
  if (detail.partners) {
    const ties = detail.partners.map(([reference, hypothesis, equal]) => ({
      reference,
      hypothesis,
      kind: equal ? "exact" : "synonym",
      similarity: 1,
      weight: 1,
    }));
    return name ? null : { ...words, ties, tagged: false, skips: false, joined: true };
  }
  const shown = chosenFeature(detail.features ?? [], name);
  if (!shown?.flow) return null;
  const similarity = shown.similarity ?? "";
  const skips = Boolean(shown.gap);
  const ties = shown.flow.map((link) => ({
    reference: link.reference,
    hypothesis: link.hypothesis,
    kind: linkKind(
      similarity,
      placesOf(link.reference, skips).map((place) => reference[place]),
      placesOf(link.hypothesis, skips).map((place) => hypothesis[place]),
    ),
    similarity: link.similarity,
    weight: link.weight,
  }));
  return { ...words, ties, tagged: similarity === "pos", skips, joined: false };
}

/**
 * What a break between two words costs, in links: parts of a word stay together, units break after punctuation.
 * @param {Token} before
 * @param {Token} token
 */
function seam(before, token) {
  if (before.end < token.start || /[\p{P}\p{Z}]$/u.test(before.surface)) return 0;
  return token.pos === undefined ? 1 : 4;
}

/**
 * The words of an n-gram; of a skip bigram the first and the last.
 * @param {[number, number]} span
 * @param {boolean} skips
 */
export function placesOf(span, skips) {
  return skips ? [span[0], span[1] - 1] : range(span);
}

/**
 * Features whose links can be drawn between words.
 * @param {Feature[]} features
 */
export function drawable(features) {
  return features.filter((one) => one.flow && !one.pivot);
}

/** @param {Feature[]} features @param {string | null} name */
function chosenFeature(features, name) {
  const some = drawable(features);
  if (name !== null) return some.find((one) => one.name === name);
  return some.find((one) => one.similarity !== "pos") ?? some[0];
}

/** @param {string} similarity @param {Token[]} reference @param {Token[]} hypothesis */
function linkKind(similarity, reference, hypothesis) {
  if (similarity === "pos") return "pos";
  let loosest = 0;
  for (let k = 0; k < Math.min(reference.length, hypothesis.length); k++) {
    loosest = Math.max(loosest, ORDER.indexOf(wordKind(similarity, reference[k], hypothesis[k])));
  }
  return ORDER[loosest];
}

/** @param {string} similarity @param {Token} x @param {Token} y */
function wordKind(similarity, x, y) {
  if (x.surface.toLowerCase() === y.surface.toLowerCase()) return "exact";
  if (x.lemma === y.lemma) return "lemma";
  if (/^(vec|ctx)/.test(similarity)) return "vector";
  const senses = new Set(x.senses ?? []);
  return (y.senses ?? []).some((sense) => senses.has(sense)) ? "synonym" : "pos";
}

/** @param {{reference: number[], hypothesis: number[]}} x @param {{reference: number[], hypothesis: number[]}} y */
function before(x, y) {
  return (
    x.reference[0] - y.reference[0] ||
    x.reference[1] - y.reference[1] ||
    x.hypothesis[0] - y.hypothesis[0] ||
    x.hypothesis[1] - y.hypothesis[1]
  );
}

/** @param {[number, number]} span */
function range([start, end]) {
  return Array.from({ length: end - start }, (_, place) => start + place);
}

/**
 * Break two texts into rows where the fewest links are cut.
 * @param {number[][]} widths of both sides
 * @param {Tie[]} ties
 * @param {number} room
 * @param {number[][]} seams what a break before each word costs
 * @returns {[number, number][][]} for each row the spans of both sides
 */
export function rowsOf(widths, ties, room, seams = [[], []]) {
  const sums = widths.map((side) => {
    const ends = [0];
    for (const width of side) ends.push(ends[ends.length - 1] + width);
    return ends;
  });
  /** @type {[number, number][][]} */
  const rows = [];
  let [i, j] = [0, 0];
  while (i < widths[0].length || j < widths[1].length) {
    const most = [reach(sums[0], i, room), reach(sums[1], j, room)];
    let end = most;
    if (most[0] !== widths[0].length || most[1] !== widths[1].length) {
      let least = Infinity;
      for (let a = most[0]; a >= Math.floor((i + most[0] + 1) / 2); a--) {
        for (let b = most[1]; b >= Math.floor((j + most[1] + 1) / 2); b--) {
          if (a === i && b === j) continue;
          const breaks = (seams[0][a] ?? 0) + (seams[1][b] ?? 0);
          const cost = cut(ties, i, j, a, b) + slack(i, a, most[0]) + slack(j, b, most[1]) + breaks;
          if (cost < least) [least, end] = [cost, [a, b]];
        }
      }
    }
    rows.push([
      [i, end[0]],
      [j, end[1]],
    ]);
    [i, j] = end;
  }
  return rows;
}

/** @param {number[]} ends @param {number} start @param {number} room */
function reach(ends, start, room) {
  let place = start;
  while (place + 1 < ends.length && (place === start || ends[place + 1] - ends[start] <= room)) place++;
  return place;
}

/** @param {Tie[]} ties @param {number} i @param {number} j @param {number} a @param {number} b */
function cut(ties, i, j, a, b) {
  let count = 0;
  for (const tie of ties) {
    if (tie.reference[0] >= i && tie.hypothesis[0] >= j && tie.reference[1] <= a !== tie.hypothesis[1] <= b)
      count++;
  }
  return count;
}

/** @param {number} start @param {number} end @param {number} most */
function slack(start, end, most) {
  return most > start ? (SLACK * (most - end)) / (most - start) : 0;
}

/** @type {CanvasRenderingContext2D | null} */
let ruler = null;
/** @param {string} text @param {number} size */
function textWidth(text, size) {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return text.length * size * 0.6;
  ruler.font = `${size}px system-ui, sans-serif`;
  return ruler.measureText(text).width;
}

/** @param {string} text */
function shortened(text) {
  const characters = [...text];
  if (characters.length <= LONGEST) return text;
  const half = Math.floor((LONGEST - 1) / 2);
  const tail = characters.slice(-half);
  while (tail.length && /^[\p{M}\p{Cf}]/u.test(tail[0])) tail.shift();
  return `${characters.slice(0, half).join("")}…${tail.join("")}`;
}

/**
 * The direction of most letters: labels follow the text that they stand with.
 * @param {string} text
 * @returns {"rtl" | "ltr"}
 */
export function direction(text) {
  const right = text.match(/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/g)?.length ?? 0;
  return right > (text.match(/\p{L}/gu)?.length ?? 0) / 2 ? "rtl" : "ltr";
}

/**
 * The picture in a box that scrolls where the page is narrower.
 * @param {Picture} picture
 * @param {number} width
 * @returns {HTMLElement}
 */
export function drawMatch(picture, width) {
  const widths = SIDES.map((side) => picture[side].map((word) => wordWidth(word, picture.tagged) + GAP));
  const seams = SIDES.map((side) => picture[side].map((word) => word.seam));
  const rows = rowsOf(widths, picture.ties, width - 2 * MARGIN, seams);
  const boxes = SIDES.map((_, side) =>
    placed(
      widths[side],
      rows.map((row) => row[side]),
    ),
  );
  const texts = SIDES.flatMap((side) => picture[side].map((word) => word.text));
  const mirrored = direction(texts.join("")) === "rtl";
  const used = Math.max(0, ...boxes.flat().map((box) => box.x + box.width)) + 2 * MARGIN;
  if (mirrored) {
    for (const box of boxes.flat()) box.x = used - 2 * MARGIN - box.x - box.width;
  }
  const high = picture.tagged ? TAGGED : HEIGHT;
  const pace = 2 * high + BETWEEN + ROW_GAP;
  const total = 2 * LABEL + pace * Math.max(1, rows.length) - ROW_GAP + 2 * MARGIN;
  const canvas = shape("svg", {
    class: "tm-match",
    role: "img",
    "aria-label": `${picture.ties.length} links between the reference (above) and the hypothesis (below)`,
    width: Math.round(used),
    height: Math.round(total),
    viewBox: `0 0 ${Math.round(used)} ${Math.round(total)}`,
    "font-family": "system-ui, sans-serif",
    "font-size": 14,
  });
  SIDES.forEach((name, side) => {
    const y = side === 0 ? MARGIN + 10 : total - MARGIN;
    const x = mirrored ? used - MARGIN : MARGIN;
    const anchor = mirrored ? "end" : "start";
    canvas.append(
      shape(
        "text",
        { x, y, class: "tm-caption", "font-size": 11, "text-anchor": anchor, direction: "ltr" },
        name,
      ),
    );
  });
  /** @param {number} side @param {number} row */
  const top = (side, row) => MARGIN + LABEL + row * pace + side * (high + BETWEEN);
  const letters = drawLinks(canvas, picture, boxes, top, high);
  drawWords(canvas, picture, boxes, top, high, letters);
  return element(
    "div",
    {
      class: "tm-scroll",
      dir: mirrored ? "rtl" : "ltr",
      tabindex: 0,
      role: "group",
      "aria-label": "links between words",
    },
    canvas,
  );
}

/** @param {Word} word @param {boolean} tagged */
function wordWidth(word, tagged) {
  const text = textWidth(shortened(word.text), 14);
  return Math.max(text, tagged ? textWidth(word.tag, 10) : 0, 8) + 2 * PADDING;
}

/** @typedef {{x: number, width: number, row: number}} Box */

/** @param {number[]} widths @param {[number, number][]} rows @returns {Box[]} */
function placed(widths, rows) {
  /** @type {Box[]} */
  const boxes = [];
  rows.forEach(([start, end], row) => {
    let x = 0;
    for (const width of widths.slice(start, end)) {
      boxes.push({ x, width: width - GAP, row });
      x += width;
    }
  });
  return boxes;
}

/**
 * Draws the links within rows; gives back the letters of those that lead to another row, by side and word.
 * @param {SVGElement} canvas @param {Picture} picture @param {Box[][]} boxes
 * @param {(side: number, row: number) => number} top @param {number} high
 */
function drawLinks(canvas, picture, boxes, top, high) {
  /** @type {Map<number, string[]>[]} */
  const letters = [new Map(), new Map()];
  let broken = 0;
  const ties = cutAtRows(picture, boxes).sort((x, y) => x.weight - y.weight || before(x, y));
  for (const tie of ties) {
    const spans = [tie.reference, tie.hypothesis];
    const rows = spans.map((span, side) => boxes[side][span[0]].row);
    if (rows[0] !== rows[1]) {
      const letter = String.fromCharCode(97 + (broken % 26)) + (broken >= 26 ? Math.floor(broken / 26) : "");
      broken++;
      spans.forEach((span, side) =>
        letters[side].set(span[0], [...(letters[side].get(span[0]) ?? []), letter]),
      );
      continue;
    }
    const [first, second] = spans.map((span, side) => middle(boxes[side], span));
    let [y1, y2] = [top(0, rows[0]) + high, top(1, rows[0])];
    let path = "";
    if (spans.some(([start, end]) => end - start > 1)) {
      [y1, y2] = [y1 + 5, y2 - 5];
      path =
        `M${first.x - first.half + 2} ${y1}h${2 * first.half - 4}` +
        `M${second.x - second.half + 2} ${y2}h${2 * second.half - 4}`;
    }
    const bend = (y2 - y1) / 2;
    path = `M${first.x} ${y1}C${first.x} ${y1 + bend} ${second.x} ${y2 - bend} ${second.x} ${y2}${path}`;
    const kind = KINDS[/** @type {keyof typeof KINDS} */ (tie.kind)];
    const title = `${kind.label}: similarity ${general(tie.similarity)}, weight ${general(tie.weight)}`;
    canvas.append(
      shape(
        "path",
        {
          class: `tm-link tm-${tie.kind}`,
          d: path,
          "stroke-width": 1 + 3 * Math.min(1, tie.weight),
          "stroke-dasharray": kind.dash || undefined,
        },
        shape("title", {}, title),
      ),
    );
  }
  return letters;
}

/**
 * The links; those that stand for several words are cut where rows end.
 * @param {Picture} picture
 * @param {Box[][]} boxes
 * @returns {Tie[]}
 */
function cutAtRows(picture, boxes) {
  return picture.ties.flatMap((tie) => {
    const [start, other] = [tie.reference[0], tie.hypothesis[0]];
    const length = tie.reference[1] - start;
    if (!picture.joined || length !== tie.hypothesis[1] - other) return [tie];
    /** @type {Tie[]} */
    const pieces = [];
    let last = "";
    for (let k = 0; k < length; k++) {
      const rows = `${boxes[0][start + k].row} ${boxes[1][other + k].row}`;
      const piece = pieces.at(-1);
      if (piece && rows === last) {
        piece.reference = [piece.reference[0], start + k + 1];
        piece.hypothesis = [piece.hypothesis[0], other + k + 1];
      } else {
        pieces.push({
          ...tie,
          reference: [start + k, start + k + 1],
          hypothesis: [other + k, other + k + 1],
        });
      }
      last = rows;
    }
    return pieces;
  });
}

/** @param {Box[]} boxes @param {[number, number]} span */
function middle(boxes, span) {
  const some = boxes.slice(...span).filter((box) => box.row === boxes[span[0]].row);
  const left = Math.min(...some.map((box) => box.x));
  const right = Math.max(...some.map((box) => box.x + box.width));
  return { x: MARGIN + (left + right) / 2, half: (right - left) / 2 };
}

/**
 * @param {SVGElement} canvas @param {Picture} picture @param {Box[][]} boxes
 * @param {(side: number, row: number) => number} top @param {number} high @param {Map<number, string[]>[]} letters
 */
function drawWords(canvas, picture, boxes, top, high, letters) {
  const best = bestKinds(picture);
  SIDES.forEach((side, number) => {
    picture[side].forEach((word, place) => {
      const box = boxes[number][place];
      const kind = best[number].get(place) ?? "unmatched";
      const [x, y] = [MARGIN + box.x, top(number, box.row)];
      const center = x + box.width / 2;
      const text = shortened(word.text);
      const group = shape("g", { class: `tm-word tm-${kind}` });
      if (text !== word.text) group.append(shape("title", {}, word.text));
      group.append(
        shape("rect", {
          x,
          y,
          width: box.width,
          height: high,
          rx: 4,
          "stroke-dasharray": kind === "unmatched" ? "3 2" : undefined,
        }),
        shape(
          "text",
          {
            x: center,
            y: y + 16.5,
            "text-anchor": "middle",
            class: word.function ? "tm-function" : undefined,
          },
          text,
        ),
      );
      if (picture.tagged && word.tag) {
        group.append(
          shape(
            "text",
            { x: center, y: y + 30, "text-anchor": "middle", class: "tm-tag", "font-size": 10 },
            word.tag,
          ),
        );
      }
      const own = letters[number].get(place);
      if (own) {
        const under = number === 0 ? y + high + 12 : y - 4;
        group.append(
          shape(
            "text",
            {
              x: center,
              y: under,
              "text-anchor": "middle",
              class: "tm-letter",
              "font-size": 11,
              "font-weight": "bold",
            },
            own.join(","),
          ),
        );
      }
      canvas.append(group);
    });
  });
}

/** @param {Picture} picture */
function bestKinds(picture) {
  /** @type {Map<number, string>[]} */
  const best = [new Map(), new Map()];
  for (const tie of picture.ties) {
    [tie.reference, tie.hypothesis].forEach((span, side) => {
      for (const place of placesOf(span, picture.skips)) {
        const known = best[side].get(place);
        if (known === undefined || ORDER.indexOf(tie.kind) < ORDER.indexOf(known))
          best[side].set(place, tie.kind);
      }
    });
  }
  return best;
}

/**
 * The meaning of the colours and line patterns that are used.
 * @param {Set<string>} used
 */
export function legend(used) {
  const list = element("ul", { class: "tm-legend" });
  for (const [name, { label, dash }] of Object.entries(KINDS)) {
    if (!used.has(name)) continue;
    const sample = shape("svg", { class: "tm-match", width: 30, height: 12, "aria-hidden": "true" });
    sample.append(
      shape("path", {
        class: `tm-link tm-${name}`,
        d: "M0 6h30",
        "stroke-width": 3,
        "stroke-dasharray": dash || undefined,
      }),
    );
    list.append(element("li", {}, sample, label));
  }
  const box = shape("svg", { class: "tm-match", width: 30, height: 12, "aria-hidden": "true" });
  box.append(
    shape(
      "g",
      { class: "tm-unmatched" },
      shape("rect", { x: 1, y: 1, width: 28, height: 10, rx: 3, "stroke-dasharray": "3 2" }),
    ),
  );
  list.append(
    element("li", {}, box, "no partner"),
    element("li", {}, "thickness: weight"),
    element("li", {}, "same letter: linked across rows"),
  );
  return list;
}

/**
 * A picture as a file of its own: colours and fonts as they are shown.
 * @param {SVGElement} picture
 */
export function standaloneSvg(picture) {
  const copy = /** @type {SVGElement} */ (picture.cloneNode(true));
  const [shown, copied] = [picture, copy].map((one) => [one, ...one.querySelectorAll("*")]);
  shown.forEach((one, place) => {
    const style = getComputedStyle(one);
    for (const name of ["fill", "stroke", "stroke-width"])
      copied[place].setAttribute(name, style.getPropertyValue(name));
  });
  return new XMLSerializer().serializeToString(copy);
}
