"""The tables of the papers as data: every row with its figures, and what stands for it here."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class PaperTable(NamedTuple):
    """A table of a paper that is measured here: rows of figures by the paper's name of the metric."""

    paper: str
    number: str
    data: str
    statistic: str
    """What is measured here for it."""
    column: str
    """The summary that is compared: `overall`, `average`, or the only language pair."""
    columns: tuple[str, ...]
    rows: dict[str, tuple[float | None, ...]]


class OtherTable(NamedTuple):
    """A table that is not measured by this study: for every row where its counterpart is, or why there is none."""

    paper: str
    number: str
    data: str
    rows: tuple[tuple[str, str], ...]


OUR_NAMES = {
    "TESLA": "TESLA-F", "maxsim": "MaxSim", "meteor-0.6": "METEOR", "meteor-next-*": "METEOR",
    "meteor-next-rank": "METEOR", "BLEU-4-v13a-c": "BLEU", "BLEU (characters)": "BLEU, characters",
    "TESLA-CELAB": "TESLA-CELAB, Cilin",
}  # fmt: skip
"""The papers' names that are not ours. What the papers call METEOR is 0.6 and meteor-next; ours is 1.5."""

_ENTRY = "not possible: an entry of WMT without a program that can be had"
_NO_JAR = "left out of this run, which had no jar of METEOR"
NOT_HERE = {
    "meteor-0.6": _NO_JAR, "meteor-next-*": _NO_JAR,
    "meteor-next-rank": "left out: METEOR is run for English only",
    "ulc": _ENTRY, "wpF": _ENTRY, "wpbleu": _ENTRY, "wcd6p4er": _ENTRY,
    "terp": "not possible: TERp's program is no longer maintained and not in this package; TER is another metric",
    "1-TERp": "as terp; TER, which is another metric, has a row of its own among ours",
}  # fmt: skip

_TESLA, _WMT11 = "TESLA (2010)", "TESLA at WMT 2011"
_BETTER, _CELAB = "Better metrics, better MT (2011)", "TESLA-CELAB (2012)"
_INTO = ("cz-en", "fr-en", "de-en", "es-en", "hu-en")
_OUT = ("en-fr", "en-de", "en-es")
INTO_TABLES = (
    PaperTable(
        _TESLA, "table 1", "WMT 2009, consistency of segments", "Consistency", "overall", ("overall",),
        {
            "TESLA": (0.6324,), "TESLA-M": (0.6097,), "ulc": (0.63,), "maxsim": (0.62,), "meteor-0.6": (0.50,),
        },
    ),
    PaperTable(
        _TESLA, "table 1", "WMT 2009, Spearman of systems", "Spearman", "average", ("average",),
        {
            "TESLA": (0.8993,), "TESLA-M": (0.8718,), "ulc": (0.83,), "maxsim": (0.80,), "meteor-0.6": (0.72,),
        },
    ),
    PaperTable(
        _WMT11, "table 1", "WMT 2009, consistency of segments", "Consistency", "overall", (*_INTO, "overall"),
        {
            "TESLA-M": (0.60, 0.61, 0.61, 0.59, 0.63, 0.61), "TESLA-B": (0.63, 0.64, 0.63, 0.62, 0.63, 0.63),
            "TESLA-F": (0.63, 0.65, 0.64, 0.62, 0.66, 0.63), "ulc": (0.63, 0.64, 0.64, 0.61, 0.60, 0.63),
            "maxsim": (0.60, 0.63, 0.63, 0.61, 0.62, 0.62), "meteor-0.6": (0.47, 0.51, 0.52, 0.49, 0.48, 0.50),
        },
    ),
    PaperTable(
        _WMT11, "table 2", "WMT 2009, Spearman of systems", "Spearman", "average", (*_INTO, "average"),
        {
            "TESLA-M": (1.00, 0.86, 0.85, 0.99, 0.66, 0.87), "TESLA-B": (1.00, 0.92, 0.67, 0.95, 0.83, 0.87),
            "TESLA-F": (1.00, 0.92, 0.68, 0.94, 0.94, 0.90), "ulc": (1.00, 0.92, 0.78, 0.86, 0.60, 0.83),
            "maxsim": (0.70, 0.91, 0.76, 0.98, 0.66, 0.80), "meteor-0.6": (0.70, 0.93, 0.56, 0.87, 0.54, 0.72),
        },
    ),
    PaperTable(
        _BETTER, "table 1", "WMT 2010, Spearman of systems", "Spearman", "average", ("average",),
        {
            "TESLA-F": (0.94,), "TESLA-M": (0.93,), "meteor-next-*": (0.92,), "1-TERp": (0.90,),
            "BLEU-4-v13a-c": (0.89,),
        },
    ),
)  # fmt: skip
OUT_TABLES = (
    PaperTable(
        _TESLA, "table 2", "WMT 2009, consistency of segments", "Consistency", "overall", (*_OUT, "en-cz", "overall"),
        {
            "TESLA": (0.6828, 0.5734, 0.5940, 0.5519, 0.5796), "TESLA-M": (0.6390, 0.5890, 0.5927, 0.5656, 0.5847),
            "wcd6p4er": (0.67, 0.58, 0.61, 0.59, 0.60), "wpF": (0.66, 0.60, 0.61, None, 0.61),
            "terp": (0.62, 0.50, 0.54, 0.31, 0.43),
        },
    ),
    PaperTable(
        _TESLA, "table 3", "WMT 2009, Spearman of systems", "Spearman", "average", (*_OUT, "en-cz", "overall"),
        {
            "TESLA": (0.8529, 0.7857, 0.7272, 0.3141, 0.6700), "TESLA-M": (0.9294, 0.8571, 0.7909, 0.0857, 0.6657),
            "wcd6p4er": (-0.89, 0.54, -0.45, -0.1, -0.22), "wpF": (0.90, -0.06, 0.58, None, None),
            "terp": (-0.89, 0.03, -0.58, -0.40, -0.46),
        },
    ),
    PaperTable(
        _WMT11, "table 3", "WMT 2009, consistency of segments", "Consistency", "overall", (*_OUT, "overall"),
        {
            "TESLA-M": (0.64, 0.59, 0.59, 0.60), "TESLA-B": (0.65, 0.59, 0.60, 0.61),
            "TESLA-F": (0.68, 0.57, 0.60, 0.61), "wpF": (0.66, 0.60, 0.61, 0.61),
            "wpbleu": (0.60, 0.47, 0.49, 0.51),
        },
    ),
    PaperTable(
        _WMT11, "table 4", "WMT 2009, Spearman of systems", "Spearman", "average", (*_OUT, "average"),
        {
            "TESLA-M": (0.93, 0.86, 0.79, 0.86), "TESLA-B": (0.91, 0.05, 0.63, 0.53),
            "TESLA-F": (0.85, 0.78, 0.67, 0.77), "wpF": (0.90, -0.06, 0.58, 0.47),
            "wpbleu": (0.92, 0.07, 0.63, 0.54),
        },
    ),
    PaperTable(
        _BETTER, "table 2", "WMT 2010, Spearman of systems", "Spearman", "average", ("average",),
        {
            "TESLA-M": (0.93,), "meteor-next-rank": (0.82,), "1-TERp": (0.81,), "BLEU-4-v13a-c": (0.80,),
            "TESLA-F": (0.76,),
        },
    ),
)  # fmt: skip
_COLUMNS = ("consistency", "Pearson", "Spearman")
_IWSLT = {
    "BLEU (characters)": (0.7004, 0.9130, 0.9643), "TESLA-M": (0.6771, 0.9167, 0.8929),
    "TESLA-CELAB⁻": (0.7018, 0.9229, 0.9643), "TESLA-CELAB": (0.7281, 0.9490, 0.9643),
}  # fmt: skip
_NIST = {
    "BLEU (characters)": (0.7091, 0.8429, 0.7818), "TESLA-M": (0.6969, 0.8301, 0.8091),
    "TESLA-CELAB⁻": (0.7158, 0.8514, 0.8227), "TESLA-CELAB": (0.7162, 0.8923, 0.8909),
}  # fmt: skip
CHINESE_TABLES = tuple(
    PaperTable(
        _CELAB, number, data, statistic, "en-zh", (column,), {name: (row[k],) for name, row in rows.items()}
    )
    for number, data, rows in (
        ("table 2", "IWSLT 2008, English–Chinese", _IWSLT), ("table 3", "NIST 2008, English–Chinese", _NIST),
    )
    for k, (column, statistic) in enumerate(zip(_COLUMNS, ("Consistency", "Pearson", "Spearman"), strict=True))
)  # fmt: skip

_PEM, _SUMMARIES, _NOMBANK = "PEM (2010)", "Summaries (2012)", "NomBank (2007)"
_AESOP = "not possible: an entry of AESOP 2011, and TAC's summaries need an agreement with NIST"
_ROUGE = "counterpart: [results on summaries](summary-results.md)"
_LEFT_OUT = "counterpart: [tables on summaries](summary-tables.md), each set left out of training"
_TUNING = "counterpart: [results of tuning](tuning-results.md)"
_SRL = "counterpart: [role labelling of nouns](srl.md)"


def _same(rows: str, told: str) -> tuple[tuple[str, str], ...]:
    return tuple((row, told) for row in rows.split("; "))


OTHER_TABLES = (
    OtherTable(_PEM, "table 1", "agreement of three judges", _same(
        "Judge A with B; Judge A with C; Judge B with C",
        "not possible: ParaBank does not say which rater gave which rating")),
    OtherTable(_PEM, "table 2", "criteria against the overall score", _same(
        "Adequacy; Fluency; Dissimilarity; Dissimilarity (A, F ≥ 4)",
        "not possible: no public set has overall scores and criteria of the same judges; ParaBank's overall score is a "
        "formula of the criteria ([PEM](../docs/pem.md#which-of-the-papers-figures-can-be-repeated))")),
    OtherTable(_PEM, "table 3", "PEM against judges", (
        ("PEM vs. Human Avg.", "counterpart: [PEM](../docs/pem.md#agreement-with-people), overall with controls"),
        *_same("PEM vs. Judge A; PEM vs. Judge B; PEM vs. Judge C",
               "counterpart: [PEM](../docs/pem.md#agreement-with-people), \"one rater's\", raters not told apart"))),
    OtherTable(_BETTER, "table 3", "hours of Z-MERT", _same(
        "BLEU; TER; TESLA-M; TESLA-F", f"{_TUNING}, CPU seconds of `tesla tune`")),
    OtherTable(_BETTER, "table 4", "automatic scores of tuned systems", _same(
        "BLEU; TER; TESLA-M; TESLA-F", f"{_TUNING}, one table per set")),
    OtherTable(_BETTER, "table 5", "P(A) and kappa of judges", _same(
        "French-English; Spanish-English; German-English",
        "counterpart: [results of tuning](tuning-results.md#agreement-of-judges), WMT 2012 and 2013 rankings")),
    OtherTable(_BETTER, "table 6", "how often each system is best", _same(
        "BLEU; TER; TESLA-M; TESLA-F", f"{_TUNING}, column *best*")),
    OtherTable(_BETTER, "table 7", "pairs of tuned systems", _same(
        "BLEU; TER; TESLA-M; TESLA-F", f"{_TUNING}, row preferred / column preferred")),
    OtherTable(_WMT11, "table 5", "systems tuned for Urdu–English", _same(
        "BLEU; TESLA-M; TESLA-B; TESLA-F",
        f"{_TUNING}; the Urdu set-up of WMT 2011 (Joshua's grammars, four references) is not here")),
    OtherTable(_CELAB, "table 1", "kappa of judges", _same(
        "Judgment Set 1; Judgment Set 2",
        "not possible: the judgements of NIST 2008 were not published; `tesla judge agree --rankings` computes kappa")),
    OtherTable(_CELAB, "table 4", "sample sentences", _same(
        "Reference; System A, System B", "reproduced where readable: [TESLA-CELAB](../docs/celab.md)")),
    OtherTable(_SUMMARIES, "table 1", "content", (
        *_same("R-2; R-SU4", _ROUGE), ("BE", "not possible: needs a parser that is not free"),
        *_same("4; 6; 8; 10; 11; 12; 13; 24", _AESOP), ("TESLA-S", _ROUGE))),
    OtherTable(_SUMMARIES, "table 2", "a role matrix", (
        ("S1 to S4", "reproduced: `packages/papers/tests/test_dicomer.py`, §11 of the specification"),)),
    OtherTable(_SUMMARIES, "table 3", "readability", (
        *_same("R-2; R-SU4", _LEFT_OUT), ("BE", "not possible: as table 1"), *_same("4; 6; 12; 18; 23", _AESOP),
        *_same("LIN; LIN+C; LIN+E; DICOMER", _LEFT_OUT))),
    OtherTable(_SUMMARIES, "table 4", "significance", (
        *_same("LIN vs. 4; LIN+C vs. 4; LIN+E vs. 4; DICOMER vs. 4", _AESOP), ("DICOMER vs. LIN", _LEFT_OUT))),
    OtherTable(_SUMMARIES, "table 5", "responsiveness", (
        *_same("R-2; R-SU4", _LEFT_OUT), ("BE", "not possible: as table 1"), *_same("4; 6; 11; 12; 18; 23; 25", _AESOP),
        *_same("CREMER LF; CREMER PF; CREMER RBF", _LEFT_OUT))),
    OtherTable(_NOMBANK, "tables 1, 2", "features", (
        ("18 and 11 features", "reproduced: `tesla train srl`, [roles of nouns](../docs/srl.md)"),)),
    OtherTable(_NOMBANK, "table 3", "F1 of classifiers", (
        *_same("identification; classification; combined; auto parse (t&t); auto parse (test)",
               f"{_SRL}, columns maxent, linear, aso"),
        ("column J&N", "not possible: Jiang & Ng's classifier is of another paper, on NomBank's 2005 release"))),
    OtherTable(_NOMBANK, "table 4", "ASO for identification, observable problems", _same(
        "distances; parent.lsis.hws; parent.rsis.hws; hws; lastwords; ptypes; paths; linear baseline",
        f"{_SRL}, `python -m research.srl table4`")),
    OtherTable(_NOMBANK, "table 5", "ASO for classification, observable problems", _same(
        "paths; partialpaths; chunkseqs; hws; lastwords; ptypes; all combined; selected combined; linear baseline",
        f"{_SRL}, `python -m research.srl table5`")),
)  # fmt: skip

HEAD = (Path(__file__).resolve().parent / "papers_tables_head.md").read_text(encoding="utf-8")
