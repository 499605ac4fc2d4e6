// Elements without markup in strings: text is always text.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element with attributes and children; a child that is a string becomes text.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number | boolean | undefined>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  setAttributes(made, attributes);
  made.append(...children);
  return made;
}

/**
 * An SVG element.
 * @param {string} name
 * @param {Record<string, string | number | boolean | undefined>} attributes
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function shape(name, attributes = {}, ...children) {
  const made = /** @type {SVGElement} */ (document.createElementNS(SVG, name));
  setAttributes(made, attributes);
  made.append(...children);
  return made;
}

/**
 * @param {Element} target
 * @param {Record<string, string | number | boolean | undefined>} attributes
 */
function setAttributes(target, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) target.setAttribute(name, "");
    else if (value !== undefined && value !== false) target.setAttribute(name, String(value));
  }
}

/**
 * The element of the page with this id.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}

/**
 * A labelled choice; `changed` gets the value as text.
 * @param {string} label
 * @param {{value: string, text: string}[]} options
 * @param {string} chosen
 * @param {(value: string) => void} changed
 * @returns {HTMLLabelElement}
 */
export function choice(label, options, chosen, changed) {
  const select = element("select", { name: label });
  for (const { value, text } of options) {
    select.append(element("option", { value, selected: value === chosen }, text));
  }
  select.addEventListener("change", () => changed(select.value));
  return element("label", {}, element("span", {}, label), select);
}

/**
 * A table with a head and rows of cells; columns in `numeric` stand to the right.
 * @param {string[]} head
 * @param {(Node | string)[][]} rows
 * @param {number[]} numeric
 * @returns {HTMLElement}
 */
export function table(head, rows, numeric = []) {
  /** @param {(Node | string)[]} cells @param {"td" | "th"} name */
  const line = (cells, name) =>
    element(
      "tr",
      {},
      ...cells.map((cell, place) => {
        const kind = cell === "" ? "td" : name;
        const look = numeric.includes(place) ? "tm-number" : undefined;
        return element(kind, { class: look, dir: "auto", scope: kind === "th" ? "col" : undefined }, cell);
      }),
    );
  return element(
    "div",
    { class: "tm-scroll" },
    element(
      "table",
      { class: "tm-table" },
      element("thead", {}, line(head, "th")),
      element("tbody", {}, ...rows.map((row) => line(row, "td"))),
    ),
  );
}

/**
 * A number with so many digits; empty for what does not exist.
 * @param {number | null | undefined} value
 * @param {number} digits
 * @param {boolean} signed
 */
export function fixed(value, digits = 4, signed = false) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  const text = value.toFixed(digits);
  return signed && value >= 0 ? `+${text}` : text.replace("-", "−");
}

/**
 * As Python's %g: up to six significant digits, no trailing zeros.
 * @param {number} value
 */
export function general(value) {
  return String(Number(value.toPrecision(6)));
}

/**
 * Gives the reader a file.
 * @param {string} name
 * @param {string} content
 */
export function save(name, content) {
  const address = URL.createObjectURL(new Blob([content], { type: "text/plain;charset=utf-8" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
