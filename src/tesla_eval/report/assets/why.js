// Why one system scores higher than another: scores by group of segments, words that each gets, and what that costs.
import { byId, element, fixed, table } from "../../drawing/assets/dom.js";
import { lengthBin, lengthLabels, readBlock, span } from "./data.js";

const SHOWN = 12;
const LONGEST = 3;
const AT_ONCE = 250;
/** Upper ends of the bins of frequencies in the references. */
const FREQUENCIES = [1, 3, 9, 99, Infinity];
const CLASS_TITLES = /** @type {Record<string, string>} */ ({
  name: "names",
  number: "numbers",
  noun: "nouns",
  verb: "verbs",
  adjective: "adjectives",
  adverb: "adverbs",
  other: "other words",
});

/** @typedef {{lost: [number, number], count: number, segments: Set<number>}} Bucket */
/** @typedef {{text: string, words: number, cost: number, count: number, segments: Set<number>}} Phrase */

/**
 * @param {Core} core @param {string[]} names @param {Shown} shown @param {(segment: number) => void} open
 * @param {(segments: Set<number>, title: string) => void} filter
 */
export function showReasons(core, names, shown, open, filter) {
  const area = document.getElementById("why-area");
  if (!area || names.length < 2) return;
  let drawn = 0;
  const draw = async () => {
    const own = ++drawn;
    const pair = [shown.first, shown.second];
    const titles = pair.map((place) => names[place]);
    byId("why-pair").textContent = `${titles[0]} against ${titles[1]}`;
    const cards = bySegments(core, shown, titles, filter);
    if (core.findings.length) {
      const words = await compareWords(core, pair, () => own === drawn);
      if (!words || own !== drawn) return; // another pair was chosen meanwhile
      cards.push(...byWords(core, words, titles, filter));
      cards.push(phraseCard(`${titles[0]} gets, ${titles[1]} misses`, words.phrases[1], open, filter));
      cards.push(phraseCard(`${titles[1]} gets, ${titles[0]} misses`, words.phrases[0], open, filter));
    }
    area.replaceChildren(...cards);
    area.setAttribute("data-drawn", pair.join(" "));
  };
  shown.views.push(draw);
  return draw();
}

/**
 * A button that leads to segments; plain text if there are none.
 * @param {string} text @param {Set<number>} segments @param {string} title
 * @param {(segments: Set<number>, title: string) => void} filter
 */
function leads(text, segments, title, filter) {
  if (!segments.size) return text;
  const name = `${text}: show the ${segments.size} segments`;
  const button = element("button", { type: "button", class: "link", "aria-label": name }, text);
  button.addEventListener("click", () => filter(segments, title));
  return button;
}

/** @param {string} title @param {string} what @param {...Node} content */
function card(title, what, ...content) {
  return element(
    "article",
    { class: "card" },
    element("h3", {}, title),
    element("p", { class: "faint" }, what),
    ...content,
  );
}

/**
 * Mean scores by length, and by what segments are grouped by.
 * @param {Core} core @param {Shown} shown @param {string[]} titles
 * @param {(segments: Set<number>, title: string) => void} filter
 */
function bySegments(core, shown, titles, filter) {
  const metric = core.metrics[shown.metric];
  const labels = lengthLabels(core);
  const kinds = [
    {
      title: "Words in the reference",
      keys: core.lengths.map((length) => labels[lengthBin(core, length)]),
      order: labels,
    },
    ...Object.entries(core.texts.groups).map(([title, keys]) => ({ title, keys, order: [...new Set(keys)] })),
  ];
  return kinds.map(({ title, keys, order }) => {
    const groups = new Map(order.map((key) => [key, /** @type {number[]} */ ([])]));
    keys.forEach((key, segment) => groups.get(key)?.push(segment));
    let rows = [...groups].flatMap(([key, segments]) => {
      if (!segments.length) return [];
      const means = [shown.first, shown.second].map(
        (system) =>
          segments.reduce((sum, segment) => sum + metric.segments[system][segment], 0) / segments.length,
      );
      return [{ key, segments, means, difference: means[0] - means[1] }];
    });
    if (keys !== kinds[0].keys) rows.sort((x, y) => Math.abs(y.difference) - Math.abs(x.difference));
    rows = rows.slice(0, 40);
    return card(
      title[0].toUpperCase() + title.slice(1),
      `Mean ${metric.name} of the segments.`,
      table(
        ["show", "segments", ...titles, "lead"],
        rows.map(({ key, segments, means, difference }) => [
          leads(key, new Set(segments), `${title}: ${key}`, filter),
          String(segments.length),
          ...means.map((mean) => fixed(mean, metric.digits)),
          fixed(difference, metric.digits, true),
        ]),
        [1, 2, 3, 4],
      ),
    );
  });
}

/**
 * What the two systems lose, by class and by frequency of the word, and the words and n-grams that only one of them loses.
 * @param {Core} core @param {number[]} pair @param {() => boolean} wanted
 */
async function compareWords(core, pair, wanted) {
  const { words, references, losses } = await readBlock("tesla-words");
  /** @type {Map<string, number>} */
  const counts = new Map();
  /** @type {{forms: string[], classes: number[]}[]} */
  const segments = [];
  for (let segment = 0; segment < words.length; segment++) {
    if (segment % AT_ONCE === 0) await new Promise((resolve) => setTimeout(resolve));
    if (!wanted()) return null;
    const own = core.texts.references.map((stream) => stream[segment]).filter((text) => text !== null);
    const text = own[references[segment]] ?? "";
    // Offsets count code points; most texts have no others.
    const units = /[\ud800-\udfff]/.test(text) ? [...text] : null;
    const [forms, classes] = [/** @type {string[]} */ ([]), /** @type {number[]} */ ([])];
    for (let at = 0; at < words[segment].length; at += 3) {
      const [start, end, kind] = words[segment].slice(at, at + 3);
      const form = (units ? units.slice(start, end).join("") : text.slice(start, end)).toLowerCase();
      forms.push(form);
      classes.push(kind);
      counts.set(form, (counts.get(form) ?? 0) + 1);
    }
    segments.push({ forms, classes });
  }
  const spaced = !/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(
    segments.find(({ forms }) => forms.length)?.forms[0] ?? "",
  );
  const func = core.classes.indexOf("function");
  /** @type {Map<string, Bucket>[]} */
  const buckets = [new Map(), new Map()];
  /** @type {Map<string, Phrase>[]} what only the first, and what only the second system loses */
  const phrases = [new Map(), new Map()];
  for (let segment = 0; segment < segments.length; segment++) {
    if (segment % AT_ONCE === 0) await new Promise((resolve) => setTimeout(resolve));
    if (!wanted()) return null;
    const { forms, classes } = segments[segment];
    const costs = pair.map((system) => {
      const row = new Float32Array(forms.length);
      const lost = losses[system][segment];
      for (let at = 0; at < lost.length; at += 2) row[lost[at]] = lost[at + 1] / 100;
      return row;
    });
    forms.forEach((form, place) => {
      if (classes[place] === func) return;
      const count = counts.get(form) ?? 0;
      const keys = [core.classes[classes[place]], String(FREQUENCIES.findIndex((end) => count <= end))];
      keys.forEach((key, kind) => {
        const bucket = buckets[kind].get(key) ?? { lost: [0, 0], count: 0, segments: new Set() };
        bucket.count++;
        bucket.lost[0] += costs[0][place];
        bucket.lost[1] += costs[1][place];
        if (costs[0][place] !== costs[1][place]) bucket.segments.add(segment);
        buckets[kind].set(key, bucket);
      });
      const loser = costs[0][place] && !costs[1][place] ? 0 : costs[1][place] && !costs[0][place] ? 1 : null;
      if (loser === null) return;
      for (let n = 1; n <= LONGEST; n++) {
        for (let start = Math.max(0, place - n + 1); start <= place; start++) {
          const end = start + n;
          if (end > forms.length || classes[start] === func || classes[end - 1] === func) continue;
          const first = costs[loser].subarray(start, end).findIndex((cost) => cost > 0);
          // An n-gram counts once, at its first lost word, and only where the other system has all of it.
          if (start + first !== place || costs[1 - loser].subarray(start, end).some((cost) => cost > 0))
            continue;
          const text = forms.slice(start, end).join(spaced ? " " : "");
          const phrase = phrases[loser].get(text) ?? {
            text,
            words: n,
            cost: 0,
            count: 0,
            segments: new Set(),
          };
          phrase.cost += costs[loser].subarray(start, end).reduce((sum, cost) => sum + cost, 0);
          phrase.count++;
          phrase.segments.add(segment);
          phrases[loser].set(text, phrase);
        }
      }
    });
  }
  return { buckets, phrases };
}

/**
 * @param {Core} core @param {{buckets: Map<string, Bucket>[]}} words @param {string[]} titles
 * @param {(segments: Set<number>, title: string) => void} filter
 */
function byWords(core, { buckets }, titles, filter) {
  const frequencies = FREQUENCIES.map((end, place) =>
    place ? `${span(FREQUENCIES[place - 1] + 1, end)} times` : "once",
  );
  const kinds = [
    {
      title: "Kind of word",
      what: "Share of the reference's words that the output has, by weight.",
      order: Object.entries(CLASS_TITLES),
    },
    {
      title: "Frequency of the word",
      what: "The same by how often a word stands in the references.",
      order: frequencies.map((label, place) => [String(place), label]),
    },
  ];
  return kinds.map(({ title, what, order }, kind) =>
    card(
      title,
      what,
      table(
        ["show", "words", ...titles, "lead"],
        order.flatMap(([key, label]) => {
          const bucket = buckets[kind].get(key);
          if (!bucket) return [];
          const shares = bucket.lost.map((lost) => 1 - lost / bucket.count);
          return [
            [
              leads(label, bucket.segments, `the systems differ on ${label}`, filter),
              String(bucket.count),
              ...shares.map((share) => fixed(share, 3)),
              fixed(shares[0] - shares[1], 3, true),
            ],
          ];
        }),
        [1, 2, 3, 4],
      ),
    ),
  );
}

/**
 * The words and n-grams that one system gets and the other misses; an n-gram is shown if it says more than its words.
 * @param {string} title @param {Map<string, Phrase>} phrases @param {(segment: number) => void} open
 * @param {(segments: Set<number>, title: string) => void} filter
 */
function phraseCard(title, phrases, open, filter) {
  const rows = [...phrases.values()]
    .filter((one) => one.count > 1 || one.words === 1)
    .sort((x, y) => y.cost - x.cost || (x.text < y.text ? -1 : 1))
    .slice(0, 3 * SHOWN);
  const lines = rows.map((one) => {
    const links = element("span", { class: "links" });
    for (const segment of [...one.segments].slice(0, 3)) {
      const button = element(
        "button",
        { type: "button", class: "link", "aria-label": `open segment ${segment + 1}` },
        String(segment + 1),
      );
      button.addEventListener("click", () => open(segment));
      links.append(button, " ");
    }
    return [
      leads(one.text, one.segments, `${title}: ${one.text}`, filter),
      String(one.count),
      fixed(one.cost, 1),
      links,
    ];
  });
  const shown = (/** @type {typeof lines} */ some) =>
    table(["text", "times", "cost", "segments"], some, [1, 2]);
  const more = lines.slice(SHOWN);
  return card(
    title,
    "Words and n-grams of the references, by the weight that the other system loses with them.",
    ...(lines.length ? [shown(lines.slice(0, SHOWN))] : [element("p", {}, "None.")]),
    ...(more.length
      ? [element("details", {}, element("summary", {}, `${more.length} more`), shown(more))]
      : []),
  );
}
