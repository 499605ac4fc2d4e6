"""PEM-X (specification §13): monotone and capped scores, the detectors of contradictions, training, damaged files."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures import SHARED_DATA

from adequacy import train_pem_x
from paraphrase_sets import read_paraphrase_set
from tesla_eval.base.errors import InputError, ResourceError, UsageError
from tesla_eval.base.resources import Resource
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.analysis.antonyms import ANTONYMS, AntonymTable, load_antonyms
from tesla_eval.metrics.contradictions.finder import CONTRADICTIONS, ContradictionFinder
from tesla_eval.metrics.contradictions.numerals import number_value
from tesla_eval.models.documents import write_document
from tesla_eval_papers import PemX
from tesla_eval_papers.metrics.features.adequacy import contradicted
from tesla_eval_papers.metrics.features.exchanges import ParsedExchangeFinder
from tesla_eval_papers.models.pem_x import load_pem_x_model, read_pem_x_model

PAIRS = Path(__file__).parents[3] / "tests" / "data" / "minimal-pairs.tsv"
STEPS = np.linspace(0, 1, 11)


@cache
def metric() -> PemX:
    return PemX(lang="en")


@cache
def finder() -> ContradictionFinder:
    return ContradictionFinder("en", ParsedExchangeFinder("en"))


def kinds(hypothesis: str, reference: str) -> set[str]:
    x, y = load_pipeline("en").analyse([reference], [hypothesis])
    return {one.kind for one in finder().explain(finder().prepare(x), finder().prepare(y))}


class TestScore:
    def test_never_falls_with_adequacy_or_fluency_and_never_rises_with_overlap(self) -> None:
        grid = np.array(list(product(STEPS, repeat=3)))
        scores = metric().combined.score(grid).reshape(11, 11, 11)
        assert (np.diff(scores, axis=0) >= 0).all()
        assert (np.diff(scores, axis=1) >= 0).all()
        assert (np.diff(scores, axis=2) <= 0).all()
        assert scores.min() == 1 and scores.max() == 5

    def test_is_capped_by_adequacy(self) -> None:
        grid = np.array(list(product(STEPS, repeat=3)))
        assert (metric().combined.score(grid) <= 1 + 4 * grid[:, 0]).all()

    def test_a_copy_is_faithful_but_no_good_paraphrase(self) -> None:
        text = "The police arrested the thief yesterday evening."
        found = metric().sentence_score(text, [text])
        assert found.features == {"adequacy": 1.0, "fluency": 1.0, "overlap": 1.0}
        share = metric().combined.loaded.copy_share
        assert found.score == pytest.approx(1 + 4 * share)
        better = metric().sentence_score("Last night the thief was caught by the police.", [text]).score
        worse = metric().sentence_score("My sister does not like green apples.", [text]).score
        assert worse < found.score < better

    def test_the_words_of_the_original_in_a_broken_order_are_not_fluent(self) -> None:
        text = "The police arrested the old thief in the park yesterday evening."
        shuffled = "evening thief the in arrested yesterday park old police the the."
        turned = "Yesterday evening the police arrested the old thief in the park."
        assert metric().sentence_score(shuffled, [text]).features["fluency"] < 0.2
        assert metric().sentence_score(turned, [text]).features["fluency"] > 0.8

    def test_adequacy_and_overlap_do_not_depend_on_the_order_of_the_texts(self) -> None:
        texts = [
            "The dog bit the man.",
            "Man was bitten by a dog in 2003.",
            "It did not rain.",
            "Twelve men ran.",
        ]
        for one, other in product(texts, repeat=2):
            there = metric().sentence_score(one, [other]).features
            back = metric().sentence_score(other, [one]).features
            assert there["adequacy"] == pytest.approx(back["adequacy"], abs=1e-12)
            assert there["overlap"] == back["overlap"]

    @pytest.mark.parametrize(
        ("hypothesis", "reference"), [("", "It rains."), ("It rains.", ""), ("", ""), ("!", "?")]
    )
    def test_without_words_the_lowest_score(self, hypothesis: str, reference: str) -> None:
        assert metric().sentence_score(hypothesis, [reference]).score == 1.0

    @given(
        agreement=st.lists(st.floats(0, 1), min_size=2, max_size=2),
        share=st.floats(0, 1),
        words=st.integers(0, 99),
    )
    def test_more_agreement_is_never_less_adequate(
        self, agreement: list[float], share: float, words: int
    ) -> None:
        low, high = contradicted(
            np.array(sorted(agreement)), np.ones((2, 1)), np.array([share]), np.array([words, words])
        )
        assert low <= high + 1e-12
        assert high <= max(agreement)


DETECTED = [
    ("negation", "The treaty has not been signed.", "The treaty has been signed."),
    ("negation", "She won't come.", "She will come."),
    ("negation", "Nobody was hurt.", "People were hurt."),
    ("number", "Twenty people died in the fire.", "The fire killed 12 people."),
    ("number", "The firm paid two million dollars.", "The firm paid 3,000,000 dollars."),
    ("lone number", "The fire killed people.", "The fire killed 12 people."),
    ("antonym", "The council rejected the plan.", "The council approved the plan."),
    ("antonym", "Prices fell in May.", "In May prices rose."),
    ("roles", "The man bit the dog.", "The dog bit the man."),
    ("roles", "The hunter killed the lion.", "The lion killed the hunter."),
    ("roles", "The dog was chased by the cat.", "The dog chased the cat."),
    ("scope", "He did not say that she came.", "He said that she did not come."),
    ("quantifier", "All students passed the exam.", "Most students passed the exam."),
    ("quantifier", "Every guest stayed.", "Several guests stayed."),
    ("modality", "The firm may close the plant.", "The firm closed the plant."),
    ("modality", "You must sign the form.", "You sign the form."),
    ("modality", "He should see a doctor.", "He saw a doctor."),
    ("tense", "The minister will visit Spain.", "The minister visited Spain."),
    ("tense", "She has finished the report.", "She will finish the report."),
    ("tense", "The train had left.", "The train is leaving."),
    ("tense", "The house was empty.", "The house is empty."),
    ("name", "Obama visited Paris in June.", "Obama visited Berlin in June."),
    ("name", "The match is on Thursday.", "The match is on Tuesday."),
    ("antonym", "Peter bought the car from Mary.", "Peter sold Mary the car."),
    ("antonym", "Lunch comes after the meeting.", "Lunch comes before the meeting."),
    ("antonym", "Paul is younger than Ann.", "Paul is older than Ann."),
    ("roles", "The farmer lent money to the bank.", "The bank lent the farmer money."),
    ("roles", "The deer hunted the wolf.", "The wolf chased the deer."),
    ("number", "The price tripled.", "The price doubled."),
    ("number", "She owns two dozen cats.", "She owns twelve cats."),
    ("number", "The talks lasted ninety minutes.", "The talks lasted forty minutes."),
]
INNOCENT = [
    ("The offer was turned down by the board.", "The board did not accept the offer."),
    ("My brother failed his test.", "My brother did not pass the test."),
    ("She always remembered them.", "She never forgot them."),
    ("There was no light in the room.", "The room was dark."),
    ("Twelve people died in the fire.", "The fire killed 12 people."),
    ("The city has 6,000,000 inhabitants.", "The city has six million inhabitants."),
    ("Eighty-five patients took part.", "85 patients took part."),
    ("The man was bitten by the dog.", "The dog bit the man."),
    ("Mary bought the car from Peter.", "Peter sold Mary the car."),
    ("She is the mother of four boys and a girl.", "She has four sons and one daughter."),
    ("He is not only rich but also kind.", "He is rich and also kind."),
    ("Anna met Peter.", "Peter met Anna."),
    ("Anna is taller than Peter.", "Peter is shorter than Anna."),
    ("France exported wine to Japan.", "Japan imported wine from France."),
    ("The lamp hangs above the table.", "The table stands below the lamp."),
    ("Half of the voters stayed at home.", "Fifty percent of the voters stayed at home."),
    ("The committee did not approve the report.", "The committee failed to approve the report."),
    ("A few guests stayed.", "Some guests stayed."),
    ("He does not even know her name.", "He does not know her name."),
    ("It was no big surprise.", "It was no surprise."),
    ("Perhaps the firm will close.", "The firm might close."),
    ("They are going to sell the house.", "They will sell the house."),
    ("She finished the report.", "She has finished the report."),
    ("Tom learned German from Anna.", "Anna taught Tom German."),
    ("The shop is in front of the kitchen.", "The kitchen is behind the shop."),
    ("The prize went to Anna Smith.", "Anna Smith won the prize."),
    ("Google Unveils Concept Car", "Google Unveils Prototype Car"),
    ("It took a hundred years.", "It took a century."),
    ("The talks lasted ninety minutes.", "The talks lasted an hour and a half."),
    ("The plan is nothing but a dream.", "The plan is only a dream."),
    ("The soup is too hot to eat.", "The soup is so hot that I cannot eat it."),
    ("We have no more sugar.", "We ran out of sugar."),
    ("She is not at all tired.", "She is not even a little tired."),
    ("He has his car washed every week.", "He gets his car washed every week."),
    ("A man with no shirt is jumping.", "A shirtless man is jumping."),
    ("The deal is worth 55 billion dollars.", "The deal is worth $55bn."),
    ("They quit smoking last May.", "They gave up smoking last May."),
]


class TestContradictions:
    @pytest.mark.parametrize(("kind", "hypothesis", "reference"), DETECTED)
    def test_found(self, kind: str, hypothesis: str, reference: str) -> None:
        assert kinds(hypothesis, reference) == {kind}
        assert kinds(reference, hypothesis) == {kind}

    @pytest.mark.parametrize(("hypothesis", "reference"), INNOCENT)
    def test_not_found(self, hypothesis: str, reference: str) -> None:
        assert kinds(hypothesis, reference) == set()

    def test_numbers(self) -> None:
        values = {
            form: number_value(form).value for form in ("1,500.50", "12", "twelve", "3rd", "NINETY", "1000s")
        }
        assert values == {"1,500.50": 1500.5, "12": 12, "twelve": 12, "3rd": 3, "NINETY": 90, "1000s": 1000}
        assert {number_value(form).role for form in ("", "5:30", "x2", "9" * 5000, "1,50", "²")} == {0}

    def test_they_lower_adequacy_and_are_named_in_the_explanation(self) -> None:
        original = "The fire killed 12 people."
        entries = [
            {
                entry["name"]: entry
                for entry in metric().explain(text, [original]).to_dict()["references"][0]["features"]
            }
            for text in ("Twelve people died in the fire.", "Twenty people died in the fire.")
        ]
        assert all(set(one) == {"adequacy", "fluency", "overlap"} for one in entries)
        assert all(0 <= entry["value"] <= 1 for one in entries for entry in one.values())
        intact, damaged = (one["adequacy"] for one in entries)
        assert "contradictions" not in intact
        assert damaged["contradictions"] == [{"kind": "number", "reference": "12", "hypothesis": "Twenty"}]
        assert damaged["value"] < intact["value"]

    def test_the_explanation_draws_them(self, tesla) -> None:  # type: ignore[no-untyped-def]
        outcome = tesla(
            "explain", "-l", "en", "-m", "pem-x", "The plan was rejected.", "The plan was approved."
        )
        assert "antonym" in outcome.out and "rejected" in outcome.out

    words = st.lists(
        st.sampled_from(
            "the dog man bit not never rose fell 12 20 twelve by was hot cold no five million".split()  # noqa: SIM905
        ),
        max_size=9,
    ).map(" ".join)

    @given(pairs=st.lists(st.tuples(words, words), min_size=1, max_size=6))
    @settings(max_examples=60, deadline=None)
    def test_a_batch_finds_what_single_pairs_find(self, pairs: list[tuple[str, str]]) -> None:
        x, y = load_pipeline("en").analyse([one for one, _ in pairs], [other for _, other in pairs])
        index = np.arange(len(pairs))
        together = finder().compare(finder().prepare(x), finder().prepare(y), index, index)
        for row, (one, other) in zip(together, pairs, strict=True):
            found = {kind for kind, value in zip(CONTRADICTIONS, row, strict=True) if value}
            assert found - ({"scope"} if "negation" in found else set()) == kinds(other, one)

    @given(one=words, other=words)
    @settings(max_examples=60, deadline=None)
    def test_numbers_and_negations_as_a_textbook_finds_them(self, one: str, other: str) -> None:
        known = {"twelve": 12, "12": 12, "20": 20, "five": 5}
        texts = [text.split() for text in (one, other) if "million" not in text]
        values = [{known[word] for word in words if word in known} for words in texts]
        found = kinds(other, one)
        if len(values) == 2:
            assert ("number" in found) == bool(values[0] - values[1] and values[1] - values[0])
            assert ("lone number" in found) == (
                bool(values[0] ^ values[1]) and not (values[0] - values[1] and values[1] - values[0])
            )
        denied = [bool({"not", "never", "no"} & set(text.split())) for text in (one, other)]
        if denied[0] == denied[1]:
            assert "negation" not in found

    def test_languages_without_word_lists_compare_digits(self) -> None:
        german = ContradictionFinder("de")
        x, y = load_pipeline("de").analyse(
            ["Das Feuer tötete 12 Menschen."] * 2, ["Das Feuer tötete 20 Menschen.", "Das Feuer nicht."]
        )
        index = np.arange(2)
        found = german.compare(german.prepare(x), german.prepare(y), index, index)
        assert [np.flatnonzero(row).tolist() for row in found] == [[1], [2]]


HOSTILE = [
    "\x00\x1b[31m not 12", "a" * 20_000, "not " * 3000, "9" * 400 + " 1,,,2 ٣ ² ½ 1e999", "🙂" * 50, "\u202e rose fell",
    "the dog bit the man " * 300, "(" * 500 + " dog bit man by", "by by by dog man", "twenty " * 50, "million million",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_has_a_score_on_the_scale(text: str) -> None:
    others = ["The dog did not bite 12 men.", text, text[::-1]]
    scores = metric().score_segments([text] * 3, [others]).scores
    assert np.isfinite(scores).all() and (scores >= 1).all() and (scores <= 5).all()
    assert metric().explain(text, [others[0]]).score == scores[0]


def read_pairs() -> list[list[str]]:
    lines = PAIRS.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith(("#", "part\t"))]


@pytest.mark.parametrize("part", ["dev", "held-out"])
def test_damaged_paraphrases_score_below_intact_ones(part: str) -> None:
    rows = read_pairs()
    assert len(rows) == 300 and {row[1] for row in rows} == {"negation", "number", "roles", "antonym"}
    originals, intact, damaged = zip(*(row[2:] for row in rows if row[0] == part), strict=True)
    good, bad = (metric().score_segments(texts, [originals]).scores for texts in (intact, damaged))
    assert np.mean(bad < good) >= 0.85


class TestAntonyms:
    def test_words_of_one_set_share_antonyms(self) -> None:
        table = load_antonyms("en")
        assert table is not None
        assert "reject" in table.antonyms("approve") and "low" in table.antonyms("high")
        assert "get" not in table.antonyms("leave")  # in too many sets

    def test_the_relation_has_no_direction(self) -> None:
        table = load_antonyms("en")
        assert table is not None
        for word in table.words[::50]:
            assert all(word in table.antonyms(other) for other in table.antonyms(word))

    @pytest.mark.parametrize(("first", "second"), [([1], [3]), ([0], [1]), ([1, 2], [2]), ([], [])])
    def test_a_damaged_table_is_refused(self, first: list[int], second: list[int]) -> None:
        arrays = {"words": np.frombuffer(b"a\nb", np.uint8), "first": np.array(first, np.uint16),
                  "second": np.array(second, np.uint16)}  # fmt: skip
        with pytest.raises(ResourceError):
            AntonymTable(Resource(ANTONYMS, "en", arrays))


TABLE = "original\tparaphrase\tmeaning\n" + "".join(
    f"{one}\t{other}\t{meaning}\n"
    for one, other, meaning in [
        ("The dog bit the man.", "The man was bitten by the dog.", 5), ("It began to rain.", "It started raining.", 4),
        ("He is ill.", "He is sick.", 5), ("It began to rain.", "My sister likes apples.", 0),
        ("The fire killed 12 people.", "The fire killed 20 people.", 2), ("He is ill.", "The shop is open.", 0),
    ]
)  # fmt: skip


class TestTraining:
    @pytest.fixture
    def tables(self, tmp_path: Path) -> list[str]:
        paths = [tmp_path / "first.tsv", tmp_path / "second.tsv"]
        for path, text in zip(paths, (TABLE, TABLE.replace("The fire", "A fire")), strict=True):
            path.write_text(text, encoding="utf-8")
        return [str(path) for path in paths]

    def test_the_same_data_give_the_same_bytes_and_a_model_that_loads(
        self, tables: list[str], tmp_path: Path
    ) -> None:
        outputs = [tmp_path / "a.json", tmp_path / "b.json"]
        for output in outputs:
            model, _ = train_pem_x([read_paraphrase_set(path) for path in tables], "en", ["de"], "4gram")
            write_document(output, model)
        assert outputs[0].read_bytes() == outputs[1].read_bytes()
        model = read_pem_x_model(outputs[0])
        assert all(weight > 0 for weight in model.evidence.values())
        own = PemX(lang="en", model=str(outputs[0]))
        assert own.get_signature()["model"] == model.fingerprint
        assert own.sentence_score("He is sick.", ["He is ill."]).score > 1

    def test_one_set_is_not_enough(self, tables: list[str]) -> None:
        with pytest.raises(UsageError, match="at least two tables"):
            train_pem_x([read_paraphrase_set(tables[0])], "en", ["de"], "4gram")

    @pytest.mark.parametrize(
        ("text", "message"),
        [("", "first line"), ("original\tparaphrase\tmeaning\n", "no pairs"), ("a\tb\n", "first line"),
         ("original\tparaphrase\tmeaning\na\tb\n", "line 2: has 2 columns"),
         ("original\tparaphrase\tmeaning\na\tb\tnan\n", "line 2: 'nan' is not a number")],
    )  # fmt: skip
    def test_a_bad_table_is_named_with_its_line(self, tmp_path: Path, text: str, message: str) -> None:
        path = tmp_path / "t.tsv"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_paraphrase_set(str(path))


class TestModel:
    def test_round_trip(self, tmp_path: Path) -> None:
        model = load_pem_x_model("en")
        write_document(tmp_path / "m.json", model)
        assert read_pem_x_model(tmp_path / "m.json").to_json() == model.to_json()

    @pytest.mark.parametrize(
        "change",
        [{"format": 2}, {"metric": "pem"}, {"evidence": {}}, {"evidence": {"chr.2.f": -1}}, {"unrelated": 1},
         {"unrelated": "0"}, {"contradictions": {"number": 2}}, {"fully_novel": True}, {"pivots": 3}, {"evidence": []}],
    )  # fmt: skip
    def test_a_damaged_file_is_named(self, tmp_path: Path, change: dict[str, object]) -> None:
        path = tmp_path / "m.json"
        path.write_text(
            json.dumps({**json.loads(load_pem_x_model("en").to_json()), **change}), encoding="utf-8"
        )
        with pytest.raises(ResourceError, match=r"m\.json"):
            PemX(lang="en", model=str(path))

    def test_evidence_that_does_not_exist_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "m.json"
        path.write_text(load_pem_x_model("en").to_json().replace("vec.1.f", "vec.9.f"), encoding="utf-8")
        with pytest.raises(ResourceError, match=r"vec\.9\.f"):
            PemX(lang="en", model=str(path))

    def test_other_languages_say_what_to_do(self) -> None:
        with pytest.raises(ResourceError, match="no PEM-X model is installed for language 'de'"):
            PemX(lang="de")
        with pytest.raises(ResourceError, match="for language 'en'"):
            PemX(lang="de", model=load_pem_x_model("en"))
        with pytest.raises(UsageError):
            PemX(lang="en", synonyms="none")


@pytest.mark.slow
def test_adequacy_agrees_with_people_better_than_overlap_of_characters() -> None:
    from tesla_eval import create_metric, statistics

    path = SHARED_DATA / "paraphrase" / "stsb_en.tsv.gz"
    if not path.exists():
        pytest.skip("the paraphrases are not here")
    pairs = read_paraphrase_set(str(path))
    span = slice(None, None, 8)
    originals, paraphrases, meaning = pairs.originals[span], pairs.paraphrases[span], pairs.meaning[span]
    adequacy = metric().corpus_score(paraphrases, [originals]).features[:, 0]
    chrf = create_metric("chrf", "en").corpus_score(paraphrases, [originals]).segments
    assert statistics.pearson(adequacy, meaning).value > statistics.pearson(chrf, meaning).value + 0.1
