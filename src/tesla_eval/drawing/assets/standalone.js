// Explanations outside a report: in notebooks, by `tesla explain --html`, and on the page of `tesla serve`.
import { element, fixed, save } from "./dom.js";
import { explanationNodes, featureChoice } from "./explanation.js";
import { drawable, legend, pictureOf, standaloneSvg } from "./match.js";

const WIDTH = 960;

/** Draws every explanation of the page whose data is not drawn yet. */
export function drawAll() {
  for (const block of document.querySelectorAll("script.tm-data")) {
    if (block.parentElement) drawExplanation(block.parentElement, JSON.parse(block.textContent ?? ""));
  }
}

/**
 * Draws an explanation in the place of what the element holds.
 * @param {HTMLElement} view
 * @param {Explanation & {hypothesis: string, feature: string | null, titles: Record<string, string>}} data
 */
export function drawExplanation(view, data) {
  const width = Math.max(200, Math.min(WIDTH, view.clientWidth || WIDTH));
  const parts = data.references.map((detail) => {
    const part = element("section");
    const features = drawable(detail.features ?? []);
    let feature = data.feature ?? features.find((one) => one.similarity !== "pos")?.name ?? features[0]?.name;
    const draw = () => {
      const options = { feature: feature ?? null, width, titles: data.titles };
      const ties = (pictureOf(detail, options.feature) ?? pictureOf(detail))?.ties ?? [];
      part.replaceChildren(...explanationNodes(data.hypothesis, detail, options));
      if (ties.length) part.append(legend(new Set(ties.map((tie) => tie.kind))));
      const picture = /** @type {SVGElement | null} */ (part.querySelector("svg[role=img]"));
      if (picture) {
        const button = element("button", { type: "button" }, "Save the picture as SVG");
        button.addEventListener("click", () => save("links.svg", standaloneSvg(picture)));
        part.append(button);
      }
      if (features.length < 2) return;
      const choose = (/** @type {string} */ name) => {
        feature = name;
        draw();
        const chosen = part.querySelector(`[value="${CSS.escape(name)}"]`);
        /** @type {HTMLElement | null} */ (chosen)?.focus();
      };
      part.prepend(featureChoice(features, options.feature, data.titles, choose));
    };
    draw();
    return part;
  });
  view.replaceChildren(
    element("h2", {}, `${data.metric} ${fixed(data.score)}`),
    element("code", {}, data.signature),
    ...parts,
  );
  for (const area of view.querySelectorAll(".tm-scroll")) area.setAttribute("tabindex", "0");
}
