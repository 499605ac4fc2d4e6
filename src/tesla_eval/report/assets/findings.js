// Errors at a glance, for one system or for two side by side.
import { byId, choice, element, fixed, table } from "./dom.js";

const SHOWN = 12;

/** @param {Core} core @param {string[]} names @param {(segment: number) => void} open */
export function showFindings(core, names, open) {
  const area = document.getElementById("finding-area");
  if (!area || !core.findings.length) return;
  let system = 0;
  const bar = byId("finding-controls");
  const draw = () => area.replaceChildren(...cards(core, core.findings[system], open));
  bar.append(
    choice(
      "system",
      names.map((text, place) => ({ value: String(place), text })),
      "0",
      (value) => {
        system = Number(value);
        draw();
      },
    ),
  );
  draw();
}

/** @param {Core} core @param {SystemFindings} found @param {(segment: number) => void} open */
function cards(core, found, open) {
  const made = [
    card(
      "Most costly lost words",
      "Words of the reference that no link carries; cost is the weight that is missing.",
      found.lost,
      open,
      true,
    ),
    card(
      "Names and numbers lost",
      "Proper nouns and numbers of the reference without a full match.",
      found.names,
      open,
      true,
    ),
    card(
      "Unsupported words",
      "Words of the output without support in the reference.",
      found.added,
      open,
      true,
    ),
    card("Most frequent synonym matches", "Reference → output.", found.synonyms, open, false),
    card(
      "Untranslated text",
      core.texts.sources
        ? "Words copied from the source that the reference does not have, or in another script."
        : "Words in a script that the reference does not use. Give --source to find copied words as well.",
      found.untranslated,
      open,
      false,
    ),
    lengths(core, found),
  ];
  return made;
}

/** @param {string} title @param {string} what @param {Finding[]} rows @param {(segment: number) => void} open @param {boolean} costs */
function card(title, what, rows, open, costs) {
  const made = element(
    "article",
    { class: "card" },
    element("h3", {}, title),
    element("p", { class: "faint" }, what),
  );
  if (!rows.length) {
    made.append(element("p", {}, "None."));
    return made;
  }
  /** @param {Finding[]} some */
  const lines = (some) =>
    table(
      ["text", "times", ...(costs ? ["cost"] : []), "segments"],
      some.map((row) => {
        const links = element("span", { class: "links" });
        for (const segment of row.segments.slice(0, 4)) {
          const button = element(
            "button",
            { type: "button", class: "link", "aria-label": `open segment ${segment + 1}` },
            String(segment + 1),
          );
          button.addEventListener("click", () => open(segment));
          links.append(button, " ");
        }
        return [row.text, String(row.count), ...(costs ? [fixed(row.cost, 1)] : []), links];
      }),
      costs ? [1, 2] : [1],
    );
  made.append(lines(rows.slice(0, SHOWN)));
  if (rows.length > SHOWN) {
    made.append(
      element("details", {}, element("summary", {}, `${rows.length - SHOWN} more`), lines(rows.slice(SHOWN))),
    );
  }
  return made;
}

/** @param {Core} core @param {SystemFindings} found */
function lengths(core, found) {
  const ends = core.length_bins;
  const rows = found.lengths.flatMap((bin, place) => {
    if (!bin.segments || !bin.reference) return [];
    const label =
      place < ends.length
        ? `${place ? ends[place - 1] + 1 : 1}–${ends[place]}`
        : `${ends[ends.length - 1] + 1}+`;
    const ratio = bin.hypothesis / bin.reference;
    const verdict = ratio > 1.1 ? "too long" : ratio < 0.9 ? "too short" : "about right";
    return [[label, String(bin.segments), fixed(ratio, 2), verdict]];
  });
  return element(
    "article",
    { class: "card" },
    element("h3", {}, "Over- and under-translation by length"),
    element("p", { class: "faint" }, "Words of the output per word of the reference."),
    table(["reference words", "segments", "ratio", ""], rows, [1, 2]),
  );
}
