// The data of the page: blocks of compressed JSON, each read once, when it is needed.

/** @type {Map<string, Promise<any>>} */
const blocks = new Map();

/**
 * The value of a block.
 * @param {string} id
 * @returns {Promise<any>}
 */
export function readBlock(id) {
  let known = blocks.get(id);
  if (!known) {
    known = decode(id);
    blocks.set(id, known);
  }
  return known;
}

/** @param {string} id */
async function decode(id) {
  const block = document.getElementById(id);
  if (!block) throw new Error(`no block ${id}`);
  const bytes = fromBase64(block.textContent ?? "");
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** @param {string} text */
function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let place = 0; place < binary.length; place++) bytes[place] = binary.charCodeAt(place);
  return bytes;
}

/**
 * The explanations of a segment under a metric, one per system; null if its links are not in this file.
 * @param {Core} core
 * @param {string} metric
 * @param {number} segment
 * @returns {Promise<Explanation[] | null>}
 */
export async function explanations(core, metric, segment) {
  const place = core.matching.blocks[String(segment)];
  if (place === undefined) return null;
  const block = await readBlock(`tesla-matching-${place}`);
  return block[metric]?.[String(segment)] ?? null;
}

/**
 * The features of a metric by system, feature and segment; null if it has none.
 * @param {Core} core
 * @param {number} metric
 * @returns {Promise<(number | null)[][][] | null>}
 */
export async function featureValues(core, metric) {
  if (!core.metrics[metric].feature_names.length) return null;
  return (await readBlock(`tesla-features-${metric}`)).values;
}

/**
 * The bins of reference lengths, in words.
 * @param {Core} core
 */
export function lengthLabels(core) {
  return [...core.length_bins, Infinity].map((end, place) =>
    span(place ? core.length_bins[place - 1] + 1 : 1, end),
  );
}

/** @param {number} from @param {number} to */
export function span(from, to) {
  return to === Infinity ? `${from}+` : from === to ? String(to) : `${from}–${to}`;
}

/** @param {Core} core @param {number} length */
export function lengthBin(core, length) {
  return core.length_bins.filter((end) => length > end).length;
}

/** What all views show: a metric and two systems, at first the best against the second. */
export class Shown {
  /** @param {Core} core */
  constructor(core) {
    this.metric = 0;
    const [best, second = best] = bestFirst(core.metrics[0]);
    this.first = best;
    this.second = second;
    /** @type {(() => void)[]} */
    this.views = [];
  }

  /** @param {Partial<Shown>} chosen */
  choose(chosen) {
    Object.assign(this, chosen);
    for (const draw of this.views) draw();
  }
}

/**
 * The systems in the order of their scores.
 * @param {Metric} metric
 */
export function bestFirst(metric) {
  const sign = metric.higher_is_better ? 1 : -1;
  return metric.scores.map((_, place) => place).sort((x, y) => sign * (metric.scores[y] - metric.scores[x]));
}
