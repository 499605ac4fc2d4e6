// Two outputs word by word: what one has and the other has not is marked.
import { element } from "../../drawing/assets/dom.js";

const WORDS =
  /\s+|(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}\p{N}])+|[^\p{L}\p{M}\p{N}\s])\s*/gu;
const LONGEST = 300;

/**
 * Both texts in parts; words outside their longest common subsequence are marked.
 * @param {string} first
 * @param {string} second
 * @returns {(Node | string)[][]}
 */
export function differences(first, second) {
  const sides = [first, second].map((text) => (text.match(WORDS) ?? []).slice(0, LONGEST));
  const rests = [first, second].map((text, side) => text.slice(sides[side].join("").length));
  // White space belongs to the word before it, and is not compared.
  const forms = sides.map((words) => words.map((word) => word.trimEnd()));
  const common = commonPlaces(forms[0], forms[1]);
  return sides.map((words, side) => [...marked(words, common[side]), rests[side]]);
}

/**
 * The places of a longest common subsequence on both sides.
 * @param {string[]} x
 * @param {string[]} y
 */
function commonPlaces(x, y) {
  const width = y.length + 1;
  const longest = new Uint16Array((x.length + 1) * width);
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      const at = i * width + j;
      longest[at] =
        x[i] === y[j] ? longest[at + width + 1] + 1 : Math.max(longest[at + width], longest[at + 1]);
    }
  }
  const places = [new Set(), new Set()];
  for (let i = 0, j = 0; i < x.length && j < y.length;) {
    const at = i * width + j;
    if (x[i] === y[j]) {
      places[0].add(i++);
      places[1].add(j++);
    } else if (longest[at + width] >= longest[at + 1]) i++;
    else j++;
  }
  return places;
}

/** @param {string[]} words @param {Set<number>} common */
function marked(words, common) {
  /** @type {(Node | string)[]} */
  const parts = [];
  let place = 0;
  while (place < words.length) {
    const start = place;
    const same = common.has(place);
    while (place < words.length && common.has(place) === same) place++;
    const text = words.slice(start, place).join("");
    const bare = text.trimEnd();
    parts.push(...(same || !bare ? [text] : [element("mark", {}, bare), text.slice(bare.length)]));
  }
  return parts;
}
