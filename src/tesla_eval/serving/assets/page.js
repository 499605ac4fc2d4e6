// One segment is explained at every key press; two files become a table of scores, whose rows open as a segment.
// Texts reach the page as text, and the policy runs no other script.
{
  const MOST_ROWS = 500;
  const field = (id) => document.getElementById(id);
  const [form, status, result, metric] = ["form", "status", "result", "metric"].map(field);
  let offered = new Map();
  let running = new AbortController();

  const say = (text, isError = false) => {
    status.textContent = text;
    status.className = isError ? "error" : "";
  };

  const ask = async (path, body) => {
    running.abort();
    running = new AbortController();
    const headers = { "Content-Type": "application/json" };
    if (field("token").value) headers.Authorization = `Bearer ${field("token").value}`;
    const content = body && JSON.stringify({ ...body, lang: field("lang").value.trim() || undefined });
    const options = { method: body ? "POST" : "GET", headers, body: content, signal: running.signal };
    const answer = await fetch(path, options);
    const document = await answer.json();
    if (answer.status === 401) field("token").parentElement.hidden = false;
    if (!answer.ok) throw new Error(document.error);
    return document;
  };

  const guarded = async (work) => {
    try {
      await work();
    } catch (error) {
      if (error.name === "AbortError") return;
      result.replaceChildren();
      say(error.message, true);
    }
  };

  const element = (name, text, className = "") => {
    const made = document.createElement(name);
    made.textContent = text;
    made.className = className;
    if (name === "td") made.dir = "auto";
    return made;
  };

  const query = (hypotheses, references) => ({ hypotheses, references, metrics: [metric.value] });

  const showSegment = async () => {
    const hypothesis = field("hypothesis").value;
    const references = field("references")
      .value.split("\n")
      .filter((line) => line.trim());
    const chosen = offered.get(metric.value);
    field("source-label").hidden = !chosen.uses_source;
    if (!hypothesis.trim() || (chosen.needs_references && !references.length)) {
      running.abort();
      result.replaceChildren();
      return say(chosen.needs_references ? "Enter a hypothesis and a reference." : "Enter a text.");
    }
    const body = query(
      [hypothesis],
      references.map((text) => [text]),
    );
    if (chosen.uses_source && field("source").value.trim()) body.sources = [field("source").value];
    const answer = await ask(
      chosen.explains ? "/explain" : "/score",
      chosen.explains ? { ...body, drawing: true } : body,
    );
    const [scored] = answer.results;
    say(`${scored.metric}, ${language(answer)}`);
    if (chosen.explains) {
      const view = element("div", "", "tm-explanation");
      result.replaceChildren(view);
      module_standalone.drawExplanation(view, scored.explanations[0].drawing);
    } else {
      result.replaceChildren(
        element("h2", `${scored.metric} ${digits(scored.score)}`),
        element("code", scored.signature),
      );
    }
  };

  const language = ({ lang, lang_assumed }) =>
    `language ${lang}${lang_assumed ? " (assumed, since the texts are too short to tell)" : ""}`;
  const digits = (score) => (score === null ? "–" : score.toFixed(4));
  const linesOf = async (file) => (await file.text()).replace(/\r?\n$/, "").split(/\r?\n/);

  const showFiles = async (files) => {
    if (files.length !== 2) throw new Error("Give two files: hypotheses and references, one text per line.");
    // The file whose name says so holds the references; else it is the second.
    const [first, second] =
      /ref/i.test(files[0].name) && !/ref/i.test(files[1].name) ? [files[1], files[0]] : files;
    const [hypotheses, references] = [await linesOf(first), await linesOf(second)];
    say(`Scoring ${first.name} against ${second.name} …`);
    const answer = await ask("/score", query(hypotheses, [references]));
    const [scored] = answer.results;
    say(`${first.name} against ${second.name}, ${language(answer)}`);
    const table = element("table", "", "tm-table");
    const head = table.createTHead().insertRow();
    head.append(...["", "hypothesis", "reference", "score"].map((name) => element(name ? "th" : "td", name)));
    const body = table.createTBody();
    scored.segments.slice(0, MOST_ROWS).forEach((score, place) => {
      const open = element("button", hypotheses[place] || "(empty)");
      open.type = "button";
      open.onclick = () => {
        field("hypothesis").value = hypotheses[place];
        field("references").value = references[place];
        guarded(showSegment);
        field("hypothesis").focus();
      };
      const cell = element("td", "");
      cell.append(open);
      body
        .insertRow()
        .append(
          element("td", place + 1),
          cell,
          element("td", references[place]),
          element("td", digits(score), "tm-number"),
        );
    });
    const left = scored.segments.length - MOST_ROWS;
    result.replaceChildren(
      element("h2", `${scored.metric} ${digits(scored.score)}: ${scored.segments.length} segments`),
      element("code", scored.signature),
      table,
      element("p", left > 0 ? `${left} more segments are not shown.` : ""),
    );
  };

  const start = async () => {
    const answer = await ask("/metrics");
    offered = new Map(answer.metrics.map((one) => [one.name, one]));
    metric.replaceChildren(...answer.metrics.map((one) => new Option(`${one.id}: ${one.summary}`, one.name)));
    field("lang").placeholder = answer.default_lang;
    await showSegment();
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (event.target.id === "files") return;
    guarded(event.target.id === "token" ? start : showSegment);
  });
  field("files").addEventListener("change", (event) => guarded(() => showFiles([...event.target.files])));
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      document.body.classList.toggle("dropping", name === "dragover");
      if (name === "drop") guarded(() => showFiles([...event.dataTransfer.files]));
    });
  }
  guarded(start);
}
