"use strict";
// One task at a time. Answers stay in the browser until they are saved as a file; where it keeps nothing, in the page.
{
  const { sheet, fields } = document.body.dataset;
  const names = fields.split(" ");
  const memory = `tesla-judging-${sheet}`;
  const byId = (id) => document.getElementById(id);
  const tasks = [...document.querySelectorAll("section")];
  const items = [...document.querySelectorAll("nav button")];
  const groups = [...document.querySelectorAll("[data-group]")];
  let current = 0;

  const answers = () =>
    Object.fromEntries([...document.querySelectorAll("input:checked")].map((one) => [one.name, one.value]));

  const show = () => {
    const given = answers();
    tasks.forEach((task, place) => {
      task.hidden = place !== current;
      const own = [...task.querySelectorAll("[data-group]")];
      const done = own.filter((group) => group.dataset.group in given).length;
      items[place].textContent = `Task ${place + 1}${done === own.length ? " ✓" : done ? " …" : ""}`;
      if (place === current) items[place].setAttribute("aria-current", "step");
      else items[place].removeAttribute("aria-current");
    });
    byId("previous").disabled = current === 0;
    byId("next").disabled = current === tasks.length - 1;
    byId("save").disabled = !Object.keys(given).length;
    byId("status").textContent = `${Object.keys(given).length} of ${groups.length} answered`;
    return given;
  };

  const go = (place) => {
    if (!tasks[place]) return;
    current = place;
    show();
    items[place].scrollIntoView({ block: "nearest" });
    scrollTo(0, 0);
    const wanted = tasks[place].querySelector("input:checked") ?? tasks[place].querySelector("input");
    wanted.focus({ preventScroll: true });
  };

  const table = () => {
    const given = answers();
    const rows = [...document.querySelectorAll("fieldset")].map(({ dataset: { task, place } }) => [
      sheet,
      task,
      place,
      ...names.map((field) => given[`${task}-${place}-${field}`] ?? ""),
    ]);
    return [["sheet", "task", "place", ...names], ...rows].map((row) => `${row.join("\t")}\n`).join("");
  };

  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([table()], { type: "text/tab-separated-values" }));
    link.download = `filled-${sheet}.tsv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const changed = () => {
    const given = show();
    try {
      localStorage.setItem(memory, JSON.stringify(given));
    } catch {
      // nothing is kept
    }
  };

  try {
    const kept = JSON.parse(localStorage.getItem(memory) ?? "{}");
    for (const input of document.querySelectorAll("input")) input.checked = kept[input.name] === input.value;
  } catch {
    // nothing is kept
  }
  document.addEventListener("change", changed);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const group = document.activeElement?.closest("[data-group]");
    const answer = group?.querySelector(`input[value="${CSS.escape(event.key)}"]`);
    if (answer) {
      // A digit answers the group that has the focus, and leads to the next one of the task.
      answer.checked = true;
      changed();
      const own = [...tasks[current].querySelectorAll("[data-group]")];
      (
        own[own.indexOf(group) + 1]?.querySelector("input") ?? byId(byId("next").disabled ? "save" : "next")
      ).focus();
    } else if (event.key === "n") go(current + 1);
    else if (event.key === "p") go(current - 1);
  });
  items.forEach((item, place) => item.addEventListener("click", () => go(place)));
  byId("previous").addEventListener("click", () => go(current - 1));
  byId("next").addEventListener("click", () => go(current + 1));
  byId("save").addEventListener("click", save);
  const open = tasks.findIndex((task) => task.querySelectorAll("input:checked").length === 0);
  go(Math.max(0, open));
}
