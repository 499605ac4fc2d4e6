// Errors that somebody can act on, for the two chosen systems; then words lost and added.
import { byId, element, fixed, table } from "../../drawing/assets/dom.js";
import { lengthLabels } from "./data.js";
import { supportTable } from "../../drawing/assets/explanation.js";

const SHOWN = 12;
/** What is found: its title, and what it means. @type {Record<string, [string, string]>} */
const ACTIONABLE = {
  names: ["Names", "Names in the reference without a full match in the output."],
  numbers: ["Numbers", "Numbers in the reference without a full match in the output."],
  untranslated: [
    "Untranslated words",
    "Words of the source that neither the reference nor the language has, and words in another script.",
  ],
  dropped: ["Dropped content", "Stretches of the reference that nothing in a shorter output matches."],
  inserted: ["Added text", "Stretches of a longer output that nothing in the reference matches."],
  repeated: ["Repetition", "Words that follow themselves at once, and do not in the reference."],
};
/** @type {Record<string, [string, string]>} */
const WORDS = {
  lost: [
    "Words lost",
    "Not fully matched by anything in the output; words that are usually right come last.",
  ],
  added: ["Words added", "Not fully matched by anything in the reference."],
  synonyms: ["Synonyms", "Words that were matched by their meaning: reference → output."],
};

/** @param {Core} core @param {string[]} names @param {Shown} shown @param {(segment: number) => void} open */
export function showFindings(core, names, shown, open) {
  const area = document.getElementById("finding-area");
  if (!area || !core.findings.length) return;
  const draw = () => {
    const found = core.findings[shown.first];
    /** @param {Record<string, [string, string]>} kinds @param {boolean} costs */
    const cards = (kinds, costs) =>
      Object.entries(kinds).map(([kind, [title, what]]) =>
        card(title, what, found[/** @type {"lost"} */ (kind)], open, costs && kind !== "synonyms"),
      );
    byId("finding-totals").replaceChildren(totals(core, names, shown));
    byId("finding-system").textContent = names[shown.first];
    area.replaceChildren(...cards(ACTIONABLE, false), ...cards(WORDS, true), lengths(core, found));
  };
  shown.views.push(draw);
  draw();
}

/**
 * How many of each kind the chosen systems have.
 * @param {Core} core @param {string[]} names @param {Shown} shown
 */
function totals(core, names, shown) {
  const systems = [...new Set([shown.first, shown.second])];
  return table(
    ["kind of error", ...systems.map((system) => names[system])],
    Object.entries(ACTIONABLE).map(([kind, [title]]) => [
      title,
      ...systems.map((system) => {
        const { count, segments } = core.findings[system].totals[kind];
        return count ? `${count} in ${segments} ${segments === 1 ? "segment" : "segments"}` : "none";
      }),
    ]),
    systems.map((_, place) => place + 1),
  );
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
  const labels = lengthLabels(core);
  const rows = found.lengths.flatMap((bin, place) => {
    if (!bin.segments || !bin.reference) return [];
    const ratio = bin.hypothesis / bin.reference;
    const verdict = ratio > 1.1 ? "too long" : ratio < 0.9 ? "too short" : "about right";
    return [[labels[place], String(bin.segments), fixed(ratio, 2), verdict]];
  });
  return element(
    "article",
    { class: "card" },
    element("h3", {}, "Over- and under-translation by length"),
    element("p", { class: "faint" }, "Words of the output per word of the reference."),
    table(["reference words", "segments", "ratio", ""], rows, [1, 2]),
  );
}

/**
 * The sentences of the chosen system's summaries that their sources support least.
 * @param {Core} core @param {string[]} names @param {Shown} shown @param {(segment: number) => void} open
 */
export function showSupport(core, names, shown, open) {
  const area = document.getElementById("support-area");
  if (!area) return;
  const draw = () => {
    byId("support-system").textContent = names[shown.first];
    const some = core.support[shown.first];
    const made = supportTable(some);
    made.querySelectorAll("tbody tr").forEach((row, place) => {
      const { segment } = some[place];
      const button = element("button", { type: "button", class: "link" }, `segment ${segment + 1}`);
      button.addEventListener("click", () => open(segment));
      row.firstElementChild?.append(button);
    });
    area.replaceChildren(made);
  };
  shown.views.push(draw);
  draw();
}
