"""Measure role labelling of nouns on the dev split of ../shared/data/srl: `python -m research.srl [SECTION ...]`.

Sections: `predicates` (which nouns have arguments), `table3` (linear, maxent and ASO; gold and automatic trees; tests
of significance; by label), `dimensions` (ASO by h), `table4` and `table5` (observable auxiliary problems), `together`
(identification with observable problems and labels), `convergence` (gradients by tolerance). All of them
without arguments. A name such as `aso-auto` only trains that model of table 3, which is kept in build/ until you delete
it. `table3:1e-5` and `aso-auto:1e-5` have another tolerance. Automatic trees of the train split are those of the
installed parser, which learned from these sentences, as the paper's parser did.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from research.srl_tests import compare
from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.resources import read_resource, write_resource
from tesla_eval_papers.models.aso import PENALTY, PenalisedLoss, fit_problems, minimise, shared_structure
from tesla_eval_papers.srl.constituents import ParsedSentence
from tesla_eval_papers.srl.evaluation import (
    Counts,
    RoleCounts,
    evaluate_labeller,
    gold_arguments,
    noun_predicates,
)
from tesla_eval_papers.srl.features import AND
from tesla_eval_papers.srl.frames import read_nomtypes
from tesla_eval_papers.srl.labeller import RoleLabeller, load_labeller, read_labeller
from tesla_eval_papers.srl.scorer import Scorer
from tesla_eval_papers.syntax.tree_parser import load_tree_parser
from tesla_eval_papers.syntax.treebank import TreebankSentence, read_treebank
from tesla_eval_papers.syntax.trees import Tree
from tesla_eval_papers.training.srl import (
    LEARNERS,
    Examples,
    FeatureTable,
    RoleExamples,
    collect_examples,
    fit_weights,
    train_labeller,
)

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "srl"
TREEBANK = DATA / "ewt_srl.jsonl.gz"
FRAMES = DATA / "propbank_frames" / "rolesets.tsv.gz"
KEPT = Path(__file__).resolve().parents[1] / "build"
TASKS = ("identification", "classification", "combined")
TABLE4 = ("distance", "parent.lsis.hw", "parent.rsis.hw", "hw", "lastword", "ptype", "path")
TABLE4_SELECTED = ("distance", "lastword", "parent.rsis.hw")
TABLE5 = ("path", "partialpath", "chunkseq", "hw", "lastword", "ptype")
SELECTED = ("path", "chunkseq", "lastword", "ptype")
TOLERANCE = 1e-2
LOOSE = 1e-3


class Study:
    """The data, and what several sections share."""

    def __init__(self) -> None:
        self.train = [s for s in read_treebank(str(TREEBANK), "train") if s.predicates]
        self.dev = [s for s in read_treebank(str(TREEBANK), "dev") if s.predicates]
        self.nomtypes = read_nomtypes(str(FRAMES))

    def examples(self, trees: Sequence[Tree] | None = None, **features: tuple[str, ...]) -> RoleExamples:
        return collect_examples(self.train, trees or [s.tree for s in self.train], self.nomtypes, **features)

    def values(self, task: str, feature: str) -> list[str]:
        """The value of a feature in each example of a task, whether the labeller uses it or not."""
        features = {name: (feature,) if name == task else () for name in TASKS[:2]}
        examples: Examples = getattr(self.examples(**features), task)
        return [examples.table.names[row[0]] for row in examples.rows]

    def evaluate(self, labeller: RoleLabeller, trees: Sequence[Tree] | None = None) -> RoleCounts:
        return evaluate_labeller(labeller, self.dev, trees or [s.tree for s in self.dev])


def frequent_values(values: Sequence[str], most: int) -> npt.NDArray[np.bool_]:
    """The label matrix of the most frequent values."""
    counts = Counter(values)
    chosen = sorted(counts, key=lambda value: (-counts[value], value))[:most]
    return np.asarray(np.array(values)[:, None] == np.array(chosen))


def columns_of(table: FeatureTable, feature: str) -> npt.NDArray[np.intp]:
    """The columns of a feature and of its conjunctions with others."""
    used = {name: feature in name.split(AND) for name in {f.partition("=")[0] for f in table.numbers}}
    columns = [number for name, number in table.numbers.items() if used[name.partition("=")[0]]]
    return np.array(columns, np.intp)


def observable_problems(
    examples: Examples, feature: str, most: int, values: Sequence[str] | None = None
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
    """The label matrix of the `most` frequent values of a feature, and the columns that would reveal them.

    `values` are those of a feature that the examples do not have.
    """
    if values is not None:
        return frequent_values(values, most), columns_of(examples.table, feature)
    prefix = f"{feature}="
    columns = [number for name, number in examples.table.numbers.items() if name.startswith(prefix)]
    if not columns:
        raise ValueError(f"the feature {feature!r} is neither used nor collected")
    chosen = np.array(columns)[np.argsort(-examples.matrix[:, columns].sum(axis=0).A1, kind="stable")[:most]]
    return examples.matrix[:, chosen].toarray() > 0, columns_of(examples.table, feature)


def label_weights(examples: Examples, roles: Sequence[str]) -> FloatArray:
    """The weight vectors (rows) of the labels as auxiliary problems."""
    return fit_problems(examples.matrix, examples.label_matrix(roles), tolerance=TOLERANCE)


def value_weights(
    examples: Examples, feature: str, most: int, values: Sequence[str] | None = None
) -> FloatArray:
    """Those of the most frequent values of a feature."""
    labels, without = observable_problems(examples, feature, most, values)
    return fit_problems(examples.matrix, labels, without=without, tolerance=TOLERANCE)


def automatic_trees(sentences: Sequence[TreebankSentence]) -> list[Tree]:
    return [found.tree for found in load_tree_parser("en").parse_tokens([s.tokens for s in sentences])]


def percent(counts: RoleCounts, task: str) -> str:
    return f"{100 * counts.to_dict()[task]['f1']:.2f}"


def kept_model(study: Study, learner: str, trees: str, tolerance: float = LOOSE) -> RoleLabeller:
    """The labeller of a learner and the kind of trees; trained once and kept in build/."""
    if learner == "maxent":  # scikit-learn's search has its own tolerance
        tolerance = LOOSE
    path = KEPT / f"srl-{learner}-{trees}{'' if tolerance == LOOSE else f'-{tolerance:g}'}.tesla"
    if not path.exists():
        examples = study.examples(automatic_trees(study.train) if trees == "auto" else None)
        start = time.process_time()
        labeller = train_labeller(examples, study.nomtypes, learner, tolerance=tolerance)
        seconds = time.process_time() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        told = f"trained in {seconds:.0f} s of processor time, {memory:.1f} GB at most"
        KEPT.mkdir(exist_ok=True)
        write_resource(path, labeller.to_resource("en", {"told": told}))
    print(
        f"{learner}, {trees} trees, tolerance {tolerance:g}: {read_resource(path).info['told']}", flush=True
    )
    return read_labeller(path)


def table3(study: Study, tolerance: float = LOOSE) -> None:
    dev_trees = automatic_trees(study.dev)
    models = {learner: kept_model(study, learner, "gold", tolerance) for learner in LEARNERS}
    gold = {learner: study.evaluate(model) for learner, model in models.items()}
    automatic = {learner: study.evaluate(model, dev_trees) for learner, model in models.items()}
    print(f"\n| | {' | '.join(LEARNERS)} | aso–linear χ² p | McNemar p | aso–maxent χ² p | McNemar p |")
    print(f"|---|{'---|' * (len(LEARNERS) + 4)}")
    for task in TASKS:
        _tell_row(task, gold, task)
    _tell_row("auto parse (test)", automatic, "combined")
    print("\n| | precision | recall | F1 | of |\n|---|---|---|---|---|")
    for name, counts in (("gold trees", gold["aso"]), ("auto parse (test)", automatic["aso"])):
        for task in TASKS:
            shares = " | ".join(f"{100 * value:.2f}" for value in counts.to_dict()[task].values())
            print(f"| aso, {name}, {task} | {shares} | {getattr(counts, task).gold} |")
    for label, part in sorted(gold["aso"].by_label.items(), key=lambda item: (-item[1].gold, item[0])):
        if part.gold >= 5:
            shares = " | ".join(f"{100 * value:.2f}" for value in part.to_dict().values())
            print(f"| aso, gold trees, combined, {label} | {shares} | {part.gold} |")
    models = {learner: kept_model(study, learner, "auto", tolerance) for learner in LEARNERS}
    both = {learner: study.evaluate(model, dev_trees) for learner, model in models.items()}
    _tell_row("auto parse (t&t)", both, "combined")


def _tell_row(name: str, results: dict[str, RoleCounts], task: str) -> None:
    """One row of table 3: F1 of each learner, and the tests of ASO against the others."""
    cells = [percent(results[learner], task) for learner in LEARNERS]
    for other in ("linear", "maxent"):
        test = compare(results["aso"], results[other], task)
        cells += [f"{test.chi_square_p:.2g}", f"{test.mcnemar_p:.2g}"]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def one_task(
    study: Study, examples: RoleExamples, task: str, structure: npt.NDArray[np.float64] | None
) -> str:
    """F1 of one task with a given structure; the scorers of the other task are empty."""
    part: Examples = getattr(examples, task)
    labels = ["argument"] if task == "identification" else examples.roles
    targets = (
        (np.array(part.labels) != "")[:, None] if task == "identification" else part.label_matrix(labels)
    )
    learner = "linear" if structure is None else "aso"
    weights = fit_weights(part, targets, learner, structure=structure)
    scorer = Scorer.from_weights(labels, part.table.names, weights.T)
    empty = Scorer.from_weights(["none"], [], np.zeros((0, 1)))
    parts = {"identification": (empty, scorer, empty), "classification": (empty, empty, scorer)}[task]
    return percent(study.evaluate(RoleLabeller(*parts, study.nomtypes)), task)


def dimensions(study: Study) -> None:
    examples = study.examples()
    roles = examples.roles
    print(f"\n| h (of {len(roles)} labels) | identification | classification |\n|---|---|---|")
    weights = {task: label_weights(getattr(examples, task), roles) for task in TASKS[:2]}
    for h in (0, 5, 10, 20, len(roles)):
        cells = [one_task(study, examples, task, shared_structure(weights[task], h)) for task in TASKS[:2]]
        print(f"| {h} | {' | '.join(cells)} |", flush=True)


def table4(study: Study, chosen: Sequence[str] = TABLE4) -> None:
    print("\n| identification: feature to be predicted, h = 20 | F1 |\n|---|---|")
    examples = study.examples()
    for feature in chosen:
        values = study.values("identification", feature) if feature in TABLE4[:3] else None
        weights = value_weights(examples.identification, feature, 20, values)
        found = one_task(study, examples, "identification", shared_structure(weights, 20))
        print(f"| 20 most frequent {feature} | {found} |", flush=True)


def together(study: Study) -> None:
    """Identification: the labels (unobservable) and features (observable) as auxiliary problems of one structure."""
    examples = study.examples(classification=())
    task = examples.identification
    roles = sorted({label for label in task.labels if label})
    labels = label_weights(task, roles)
    values = {name: study.values("identification", name) for name in TABLE4[:3]}
    groups = {name: value_weights(task, name, 20, values.get(name)) for name in TABLE4}
    every = [groups[name] for name in TABLE4]
    selected = [groups[name] for name in TABLE4_SELECTED]
    print("\n| identification: auxiliary problems | h | F1 |\n|---|---|---|")
    for name, parts, dimensions_tried in (
        ("all observable", every, (20, 100)),
        ("selected observable", selected, (20,)),
        ("labels", [labels], (20,)),
        ("labels and all observable", [labels, *every], (20, 100)),
        ("labels and selected observable", [labels, *selected], (20, 51, 100)),
    ):
        for h in dimensions_tried:
            theta = shared_structure(np.concatenate(parts), h)
            print(
                f"| {name} | {len(theta)} | {one_task(study, examples, 'identification', theta)} |",
                flush=True,
            )


def convergence(study: Study) -> None:
    """Identification by the tolerance of the search for Θ's problems and for the target: is it small enough?"""
    examples = study.examples(classification=())
    task = examples.identification
    targets = np.where(np.array(task.labels) != "", 1.0, -1.0)
    roles = sorted({label for label in task.labels if label})
    empty = Scorer.from_weights(["none"], [], np.zeros((0, 1)))
    print(
        "\n| learner | tolerance of Θ | tolerance | steps | ‖gradient‖ / first | objective | F1 | s |\n|---|"
        + "---|" * 7
    )
    weights = None
    for of_theta in (None, 1e-2, 1e-3, 1e-4, 1e-5):
        start = time.process_time()
        if of_theta is not None:
            weights = fit_problems(task.matrix, task.label_matrix(roles), tolerance=of_theta, start=weights)
        structure = None if weights is None else shared_structure(weights, 20)
        objective = PenalisedLoss(task.matrix, targets, PENALTY, structure)
        first = float(np.linalg.norm(objective.gradient(np.zeros(objective.size))[1]))
        for tolerance in (1e-2, 1e-3, 1e-5) if of_theta is None else (1e-3, 1e-5):
            found = minimise(objective, tolerance, 200)
            norm = float(np.linalg.norm(objective.gradient(found.u)[1])) / first
            seconds = time.process_time() - start
            scorer = Scorer.from_weights(["argument"], task.table.names, objective.weights(found.u)[:, None])
            f1 = percent(study.evaluate(RoleLabeller(empty, scorer, empty, study.nomtypes)), "identification")
            name = "linear" if structure is None else "aso"
            print(f"| {name} | {of_theta or ''} | {tolerance:g} | {found.iterations} | {norm:.1e} "
                  f"| {found.value:.6f} | {f1} | {seconds:.0f} |", flush=True)  # fmt: skip
            start = time.process_time()


def table5(study: Study) -> None:
    unused = ("path", "partialpath", "chunkseq", "hw")  # hw is used in a conjunction alone
    examples = study.examples(identification=())
    task = examples.classification
    print("\n| classification: feature to be predicted, h = 100 | F1 |\n|---|---|")
    groups = {}
    for feature in TABLE5:
        values = study.values("classification", feature) if feature in unused else None
        groups[feature] = value_weights(task, feature, 300, values)
        found = one_task(study, examples, "classification", shared_structure(groups[feature], 100))
        print(f"| {len(groups[feature])} most frequent {feature} | {found} |", flush=True)
    labels = label_weights(task, examples.roles)
    combined = {
        "all combined": [groups[feature][:100] for feature in TABLE5],
        "selected combined": [groups[feature][:100] for feature in SELECTED],
        "labels and selected combined": [labels, *(groups[feature][:100] for feature in SELECTED)],
    }
    for name, parts in combined.items():
        found = one_task(study, examples, "classification", shared_structure(np.concatenate(parts), 100))
        print(f"| {name} | {found} |", flush=True)
    print(f"| linear baseline | {one_task(study, examples, 'classification', None)} |", flush=True)


def predicates(study: Study) -> None:
    """Which nouns have arguments, by the installed labeller, over all sentences of the dev split."""
    labeller = load_labeller("en")
    sentences = read_treebank(str(TREEBANK), "dev")
    for name, trees in (("gold", [s.tree for s in sentences]), ("auto", automatic_trees(sentences))):
        counts = Counts()
        for sentence, tree in zip(sentences, trees, strict=True):
            gold = {(p.index,) for p in noun_predicates(sentence) if gold_arguments(p)}
            counts.add({(index,) for index in labeller.find_predicates(ParsedSentence(tree))}, gold)
        shares = ", ".join(f"{name} {100 * value:.2f}" for name, value in counts.to_dict().items())
        print(f"predicates, {name} trees: {shares}", flush=True)


SECTIONS = {
    "predicates": predicates,
    "table3": table3,
    "dimensions": dimensions,
    "table4": table4,
    "together": together,
    "convergence": convergence,
    "table5": table5,
}


def main() -> None:
    study = Study()
    for name in sys.argv[1:] or SECTIONS:
        section, _, feature = name.partition(":")
        if feature and section == "table4":  # such as table4:path
            table4(study, [feature])
        elif feature and section == "table3":  # such as table3:1e-5
            table3(study, float(feature))
        elif name in SECTIONS:
            SECTIONS[name](study)
        else:  # such as aso-gold or aso-gold:1e-5
            learner, _, trees = section.partition("-")
            kept_model(study, learner, trees, float(feature or LOOSE))


if __name__ == "__main__":
    main()
