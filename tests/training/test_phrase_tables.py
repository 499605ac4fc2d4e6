"""Bitext to phrase table (specification §6): symmetrisation, extraction, pruning, files, damaged files."""

from __future__ import annotations

import gzip
import random
import stat
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval._core import PhraseCounter, extract_phrases, symmetrise
from tesla_eval.base.errors import BuildError, InputError, ResourceError, TeslaError, UsageError
from tesla_eval.base.resources import Resource, read_resource, write_resource
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.pivot import PhraseTable, installed_pivots, read_phrase_table
from tesla_eval.training.bitext import Bitext, align_with_eflomal, find_eflomal, lemma_lines, lemma_names
from tesla_eval.training.phrase_tables import PhraseTableRecipe, _Runs, build_phrase_table, parse_moses_line

ENGLISH = ["The cat sleeps.", "The dog sleeps.", "A cat!", "The dog"]
FRENCH = ["Le chat dort.", "Le chien dort.", "Un chat !", "Le chien"]
LINKS = ["0-0 1-1 2-2", "0-0 1-1 2-2", "0-0 1-1", "0-0 1-1"]

Link = tuple[int, int]
links_of_4 = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=8)


def pharaoh(links) -> str:
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def grow_diag_final_and(forward: set[Link], reverse: set[Link]) -> set[Link]:
    """The textbook (Koehn, Och & Marcu 2003; Moses' final-and)."""
    chosen, union = forward & reverse, forward | reverse
    around = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]

    def free(i: int, j: int) -> tuple[bool, bool]:
        return all(a != i for a, _ in chosen), all(b != j for _, b in chosen)

    grown = True
    while grown:
        grown = False
        for i, j in product(range(4), range(5)):
            if (i, j) not in chosen:
                continue
            for di, dj in around:
                link = (i + di, j + dj)
                if link in union and link not in chosen and any(free(*link)):
                    chosen = chosen | {link}
                    grown = True
    for direction in (forward, reverse):
        for link in sorted(direction):
            if all(free(*link)):
                chosen = chosen | {link}
    return chosen


@given(links_of_4, links_of_4)
def test_symmetrisation_is_the_textbooks(forward, reverse):
    found = symmetrise(pharaoh(forward), pharaoh(reverse), 4, 5)
    assert found == sorted(grow_diag_final_and(forward, reverse))


@given(links_of_4)
def test_phrase_pairs_are_all_consistent_boxes(links):
    boxes = set()
    for a, b, c, d in product(range(5), range(5), range(6), range(6)):
        if not (a < b <= 4 and c < d <= 5 and b - a <= 4 and d - c <= 4):
            continue
        inside = [(i, j) for i, j in links if a <= i < b and c <= j < d]
        crossing = [(i, j) for i, j in links if (a <= i < b) != (c <= j < d)]
        if inside and not crossing:
            boxes.add((a, b, c, d))
    found = extract_phrases(pharaoh(links), 4, 5)
    assert len(found) == len(set(found))
    assert set(found) == boxes


@pytest.mark.parametrize("line", ["0-0 9-1", "x-1", "1", "1-", "-1-2", "0-0,1-1", "0--1"])
def test_links_that_are_none_are_refused(line):
    with pytest.raises(ValueError, match="is no alignment of sentences with 4 and 5 words"):
        symmetrise(line, "", 4, 5)


def test_words_are_what_stands_between_spaces_however_many():
    counter = PhraseCounter()
    counter.add_sentences([" a  b"], ["x y "], ["0-0 1-1"], ["0-0 1-1"])
    assert counter.pending == 3  # a x, b y, a b x y
    with pytest.raises(ValueError, match="with 2 and 2 words"):
        counter.add_sentences([" a  b"], ["x y "], ["2-1"], ["2-1"])


def test_every_token_is_a_word_in_the_lines_that_are_aligned():
    """A lone tatweel is a letter to Unicode, but nothing is left of it in the lemma."""
    (batch,) = load_pipeline("ar").analyse(["هذا ـ كتاب"])
    (line,) = lemma_lines(batch, lemma_names(batch))
    assert len(line.split()) == len(batch.word) == 3


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "a b", "b", "b a c"]), st.sampled_from("uvwxyz"), st.integers(1, 9))
    ),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.1, 0.5]),
    st.integers(1, 4),
)
def test_runs_on_disk_add_up_to_the_counts(tmp_path_factory, pairs, min_count, min_probability, runs):
    counter, paths = PhraseCounter(), []
    folder = tmp_path_factory.mktemp("runs")
    for r in range(runs):
        some = pairs[r::runs]
        counter.add_pairs(
            [t for t, _, _ in some], [p for _, p, _ in some], np.array([n for *_, n in some], np.uint32)
        )
        paths.append(str(folder / str(r)))
        counter.write_run(paths[-1])
    merged = counter.merge(paths, min_count, min_probability)
    joint: Counter[tuple[str, str]] = Counter()
    for target, pivot, count in pairs:
        joint[target, pivot] += count
    totals: Counter[str] = Counter()
    for (target, _), count in joint.items():
        totals[target] += count
    assert (merged["total"], merged["phrases"], merged["pairs"]) == (
        sum(joint.values()),
        len(totals),
        len(joint),
    )
    kept = {target: count for target, count in totals.items() if count >= min_count}
    assert sorted(merged["node_count"][merged["node_count"] > 0].tolist()) == sorted(kept.values())
    options = Counter()
    for target, total in kept.items():
        counts = sorted((count for (t, _), count in joint.items() if t == target), reverse=True)
        options.update([count for k, count in enumerate(counts) if k == 0 or count / total > min_probability])
    assert Counter(merged["option_count"].tolist()) == options


@pytest.fixture
def bitext(write, tmp_path, monkeypatch) -> list[str]:
    monkeypatch.setenv("TESLA_EVAL_DATA", str(tmp_path / "own"))
    with gzip.open(path := write("b.fr.gz", b""), "wt", encoding="utf-8") as handle:
        handle.writelines(f"{line}\n" for line in FRENCH)
    return [write("b.en", ENGLISH), path, write("b.align", LINKS)]


@pytest.fixture
def table_file(tmp_path, bitext, tesla) -> Path:
    path = tmp_path / "phrases-en-fr.tesla"
    done = tesla(
        "train", "phrase-table", "-l", "en", "--pivot", "fr", "--bitext", *bitext[:2], "--alignments", bitext[2],
        "-o", str(path), "--source", "this test", "--licence", "CC0", "--date", "2026-11-15",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert "from 4 sentence pairs" in done.out
    return path


class TestBuild:
    def test_phrases_are_lemmas_with_counts(self, table_file):
        table = read_phrase_table(table_file)
        assert table.count(["the"]) == 3
        assert table.look_up(["the"]) == [(("le",), 1.0)]
        assert table.look_up(["the", "dog", "sleep"]) == [(("le", "chien", "dormir"), 1.0)]
        assert table.look_up(["cat"]) == [(("chat",), 1.0)]
        assert table.count(["zebra"]) == table.count(["cat", "dog"]) == 0
        assert not list(table_file.parent.glob("*.work"))

    def test_nothing_is_pruned_unless_asked(self, bitext, tmp_path, tesla):
        def build(*more: str) -> Resource:
            path = tmp_path / "t.tesla"
            done = tesla("train", "phrase-table", "-l", "en", "--pivot", "fr", "--bitext", *bitext[:2],
                         "--alignments", bitext[2], "-o", str(path), *more)  # fmt: skip
            assert done.status == 0, done.err
            return read_resource(path)

        whole, pruned = build(), build("--prune", "2", "0.1")
        assert whole.info["phrases"] == whole.info["extracted phrases"] == pruned.info["extracted phrases"]
        assert len(whole.arrays["option_count"]) == whole.info["extracted pairs"]
        assert pruned.info["phrases"] < whole.info["phrases"]
        signatures = [PhraseTable.from_resource(table).signature for table in (whole, pruned)]
        assert [text.endswith(".min2") for text in signatures] == [False, True]

    def test_pems_tables_are_of_stems_with_punctuation(self, write, tmp_path, tesla, monkeypatch):
        monkeypatch.setenv("TESLA_EVAL_DATA", str(tmp_path))
        files = write("p.en", ["Adjustable cities ."]), write("p.fr", ["Villes réglables ."])
        done = tesla("train", "phrase-table", "-l", "en", "--pivot", "fr", "--bitext", *files, "--stems",
                     "--alignments", write("p.align", ["0-1 1-0 2-2"]))  # fmt: skip
        assert done.status == 0, done.err
        table = read_phrase_table(tmp_path / "phrases-stems-en-fr.tesla")
        assert table.count(["adjust", "citi", "."]) == 1
        assert table.count(["adjustable"]) == table.count(["city"]) == 0
        assert "fr" in installed_pivots("en", stems=True)
        assert table.look_up(["."]) == [((".",), 1.0)]

    def test_resources_show_it(self, table_file, tesla, monkeypatch):
        monkeypatch.setenv("TESLA_EVAL_DATA", str(table_file.parent))
        shown = next(
            line for line in tesla("resources", "--files").out.splitlines() if "phrases (own)" in line
        )
        assert all(part in shown for part in ("en", "fr", "this test", "CC0", "2026-11-15"))

    def test_alignments_count_words_between_spaces(self, write, tmp_path):
        files = Bitext(
            write("e", ["It's the cat's."]), write("f", ["C'est du chat."]), write("a", ["0-0 1-1 2-2"])
        )
        recipe = PhraseTableRecipe("en", "fr", (files,))
        table = PhraseTable.from_resource(build_phrase_table(recipe, tmp_path / "work"))
        assert table.count(["the"]) > 0
        assert table.look_up(["the"]) == [(("de",), 1.0)]

    def test_compact_and_plain_tables_say_the_same(self, bitext, tmp_path):
        tables = []
        for compact in (False, True):
            recipe = PhraseTableRecipe("en", "fr", (Bitext(*bitext),), compact=compact)
            path = tmp_path / f"{compact}.tesla"
            write_resource(path, build_phrase_table(recipe, tmp_path / f"work{compact}"), compress=compact)
            tables.append(read_phrase_table(path))
        for phrase in (["the"], ["cat"], ["the", "dog"], ["a", "cat"], ["sleep", "the"]):
            assert tables[0].look_up(phrase) == tables[1].look_up(phrase)

    def test_bad_alignment_names_file_and_line(self, bitext, write, tesla):
        bad = write("bad.align", [*LINKS[:2], "0-0 7-1", LINKS[3]])
        done = tesla(
            "train", "phrase-table", "-l", "en", "--pivot", "fr", "--bitext", *bitext[:2], "--alignments", bad
        )
        assert done.status == 2
        assert f"{bad}, line 3: '7-1' is not a link I-J between sentences of 2 and 3 words" in done.err

    def test_files_of_different_lengths_are_named(self, write, bitext, tesla):
        short = write("short.fr", FRENCH[:3])
        done = tesla("train", "phrase-table", "-l", "en", "--pivot", "fr", "--bitext", bitext[0], short,
                     "--alignments", bitext[2], "-o", str(Path(short).parent / "x.tesla"))  # fmt: skip
        assert done.status == 2
        assert "has 4 lines, but" in done.err

    def test_the_pivot_must_be_another_language(self, bitext, tesla):
        done = tesla("train", "phrase-table", "-l", "en", "--pivot", "eng", "--bitext", *bitext[:2])
        assert (done.status, "must differ from the target language" in done.err) == (2, True)

    def test_moses_tables_are_imported(self, write, tmp_path, tesla):
        lines = [
            "the cat ||| le chat ||| 0.5 0.1 0.5 0.1 ||| 0-0 1-1 ||| 4 4 3 ||| |||",
            "the cat ||| un chat ||| 0.5 0.1 0.5 0.1 ||| 0-0 1-1 ||| 4 4 1 ||| |||",
            ", ||| , ||| 1 1 1 1 ||| 0-0 ||| 9 9 9",
        ]
        path = tmp_path / "t.tesla"
        done = tesla(
            "train",
            "phrase-table",
            "-l",
            "en",
            "--pivot",
            "fr",
            "--moses",
            write("m", lines),
            "-o",
            str(path),
        )
        assert done.status == 0, done.err
        assert read_phrase_table(path).look_up(["the", "cat"]) == [
            (("le", "chat"), 0.75),
            (("un", "chat"), 0.25),
        ]

    @pytest.mark.parametrize(
        "line", ["a ||| b ||| 0.5", "a ||| b ||| 1 ||| 0-0 ||| 1 2", "a ||| b ||| 1 ||| ||| 1 2 x"]
    )
    def test_bad_moses_lines_are_named(self, line, write, tesla):
        path = write("m", ["a ||| b ||| 1 ||| 0-0 ||| 1 1 1", line])
        done = tesla(
            "train", "phrase-table", "-l", "en", "--pivot", "fr", "--moses", path, "-o", f"{path}.tesla"
        )
        assert done.status == 2
        assert f"{path}, line 2" in done.err
        with pytest.raises(InputError, match="line 2"):
            parse_moses_line(line, "line 2")


def fake_eflomal(folder: Path, body: str) -> None:
    """A program of that name that does what `body` says."""
    program = folder / "eflomal-align"
    program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


class TestAligner:
    @pytest.fixture
    def programs(self, tmp_path, monkeypatch) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        monkeypatch.setattr("sys.executable", str(folder / "python"))
        monkeypatch.setattr("tesla_eval.training.bitext._installed_script", lambda: None)
        return folder

    def test_a_missing_program_is_named_with_the_command_that_installs_it(self, programs, bitext, tesla):
        with pytest.raises(ResourceError, match="pip install eflomal"):
            find_eflomal()
        done = tesla(
            "train", "phrase-table", "-l", "en", "--pivot", "fr", "--bitext", *bitext[:2], "-o", "x.tesla",
            "--aligner", "eflomal",
        )  # fmt: skip
        assert (done.status, "pip install eflomal" in done.err) == (2, True)

    def test_a_program_that_fails_leaves_no_links(self, programs, tmp_path):
        fake_eflomal(programs, 'echo "0-0" > "$7"; echo out of memory >&2; exit 3')
        with pytest.raises(BuildError, match="failed with status 3: out of memory"):
            align_with_eflomal(*(tmp_path / name for name in ("t", "p", "f", "r")))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["bin"]

    def test_an_interrupted_build_goes_on_where_it_stopped(self, programs, bitext, tmp_path):
        copies = "\n".join(f'echo "{line}" >> "$7"; echo "{line}" >> "$9"' for line in LINKS)
        recipe = PhraseTableRecipe("en", "fr", (Bitext(*bitext[:2]),) * 2, aligner="eflomal", pairs_a_part=4)
        work = tmp_path / "work"
        once = f"[ -e {tmp_path}/ran ] && exit 1\ntouch {tmp_path}/ran\n{copies}"
        fake_eflomal(programs, once)  # fails at the second part
        with pytest.raises(BuildError, match="status 1"):
            build_phrase_table(recipe, work)
        before = {path.name: path.stat().st_mtime_ns for path in work.iterdir()}
        assert {"part-0000.forward", "part-0001.target"} <= set(before)
        fake_eflomal(programs, copies)
        table = PhraseTable.from_resource(build_phrase_table(recipe, work))
        assert table.look_up(["the", "cat"]) == [(("le", "chat"), 1.0)]
        after = {path.name: path.stat().st_mtime_ns for path in work.iterdir()}
        assert all(after[name] == time for name, time in before.items())
        with pytest.raises(BuildError, match="belongs to a build from other files"):
            build_phrase_table(PhraseTableRecipe("en", "fr", (Bitext(*bitext[:2]),), pairs_a_part=4), work)

    def test_a_folder_with_other_things_is_left_alone(self, bitext, tmp_path):
        with pytest.raises(BuildError, match="is not empty"):
            build_phrase_table(PhraseTableRecipe("en", "fr", (Bitext(*bitext),)), Path(bitext[0]).parent)


def test_eflomal_itself_aligns_where_it_is_installed(write, tmp_path, tesla):
    try:
        find_eflomal()
    except ResourceError:
        pytest.skip("eflomal is not installed")
    path = tmp_path / "t.tesla"
    files = write("many.en", ENGLISH * 50), write("many.fr", FRENCH * 50)
    done = tesla("train", "phrase-table", "-l", "en", "--pivot", "fr", "--bitext", *files, "-o", str(path),
                 "--aligner", "eflomal")  # fmt: skip
    assert done.status == 0, done.err
    assert read_phrase_table(path).look_up(["cat"])[0][0] == ("chat",)
    assert read_resource(path).info["aligner"] == "eflomal"


def test_our_own_aligner_needs_no_program_and_gives_the_same_table(write, tmp_path, tesla, monkeypatch):
    monkeypatch.setattr("tesla_eval.training.phrase_tables.find_eflomal", lambda: pytest.fail("looked for"))
    files = write("many.en", ENGLISH * 50), write("many.fr", FRENCH * 50)
    tables = []
    for threads in (1, 3):
        path = tmp_path / f"{threads}.tesla"
        done = tesla("train", "phrase-table", "-l", "en", "--pivot", "fr", "--bitext", *files, "-o", str(path),
                     "-j", str(threads), "--date", "2026-11-15")  # fmt: skip
        assert done.status == 0, done.err
        tables.append(path.read_bytes())
    assert tables[0] == tables[1]
    assert read_phrase_table(path).look_up(["the", "dog"])[0][0] == ("le", "chien")
    assert read_resource(path).info["aligner"] == "hmm"


def test_an_unknown_aligner_is_refused(bitext):
    with pytest.raises(UsageError, match="aligner 'giza' is unknown; choose hmm or eflomal"):
        PhraseTableRecipe("en", "fr", (Bitext(*bitext[:2]),), aligner="giza")


class TestDamagedFiles:
    def test_another_analysis_is_refused_with_the_command_that_mends_it(self, table_file):
        table = read_resource(table_file)
        write_resource(table_file, Resource(table.kind, "en", table.arrays, "lemmas:other", info=table.info))
        with pytest.raises(ResourceError, match="tesla train phrase-table -l en --pivot fr") as error:
            read_phrase_table(table_file)
        assert str(table_file) in str(error.value)
        assert "lemmas:other" in str(error.value)

    def test_another_version_is_refused(self, table_file):
        table = read_resource(table_file)
        info = {**table.info, "layout": 99}
        write_resource(table_file, Resource(table.kind, "en", table.arrays, table.analysis, info=info))
        with pytest.raises(
            ResourceError, match=r"another version of tesla-eval\); reinstall it, or rebuild it with"
        ):
            read_phrase_table(table_file)

    def test_cut_off_and_random_bytes_never_crash(self, table_file):
        sound = table_file.read_bytes()
        chance = random.Random(7)
        for attempt in range(300):
            data = bytearray(sound)
            if attempt % 3 == 0:
                del data[chance.randrange(len(data)) :]
            elif attempt % 3 == 1:
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            else:
                data = bytearray(chance.randbytes(chance.randrange(200)))
            table_file.write_bytes(data)
            try:
                read_phrase_table(table_file)
            except ResourceError as error:
                assert str(table_file) in str(error)
                continue
            assert _only_padding_differs(sound, data)

    def test_arrays_of_any_content_never_crash(self, table_file, tmp_path):
        """What a checksum cannot see: files that were written with numbers that lead nowhere."""
        table = read_resource(table_file)
        chance = random.Random(11)
        loaded = 0
        for _ in range(500):
            arrays = {name: array.copy() for name, array in table.arrays.items()}
            name = chance.choice(sorted(arrays))
            if arrays[name].size and chance.random() < 0.8:
                largest = np.iinfo(arrays[name].dtype).max
                arrays[name][chance.randrange(arrays[name].size)] = chance.choice([0, 1, 2, 3, 100, largest])
            else:
                arrays[name] = arrays[name][: chance.randrange(arrays[name].size + 1)]
            path = tmp_path / "fuzz.tesla"
            write_resource(path, Resource(table.kind, "en", arrays, table.analysis, info=table.info))
            try:
                found = read_phrase_table(path)
            except TeslaError as error:
                assert "fuzz.tesla" in str(error)
                continue
            loaded += 1
            found.look_up(["the", "cat"])
        assert loaded > 0  # some changes do no harm: a count, a letter


def _only_padding_differs(sound: bytes, data: bytearray) -> bool:
    return len(data) >= len(sound) - 64 and sum(a != b for a, b in zip(sound, data, strict=False)) <= 1


def test_a_run_that_cannot_be_written_is_named(tmp_path):
    counter = PhraseCounter()
    counter.add_pairs(["a"], ["b"], np.ones(1, np.uint32))
    with pytest.raises(BuildError, match=r"nowhere.run-0000\.bin: cannot be opened"):
        _Runs(tmp_path / "nowhere", counter).end()


def written_run(path, target: str) -> tuple[PhraseCounter, str]:
    counter = PhraseCounter()
    counter.add_pairs([target], ["pivot"], np.ones(1, np.uint32))
    counter.write_run(str(path))
    return counter, str(path)


@pytest.mark.parametrize("place", [0, 8, 16, 24, 32, -1])
def test_a_changed_run_is_refused(tmp_path, place):
    counter, run = written_run(tmp_path / "run", "a b")
    assert counter.merge([run], 1, 0.0)["target_words"] == ["a", "b"]
    content = bytearray((tmp_path / "run").read_bytes())
    content[place] ^= 1
    (tmp_path / "run").write_bytes(content)
    with pytest.raises(RuntimeError, match="run: is damaged"):
        counter.merge([run], 1, 0.0)
    (tmp_path / "run").write_bytes(content[:-1])
    with pytest.raises(RuntimeError, match="run: is damaged"):
        counter.merge([run], 1, 0.0)


def test_a_run_of_another_counter_is_refused(tmp_path):
    counter, _ = written_run(tmp_path / "own", "a")
    _, foreign = written_run(tmp_path / "foreign", "a b c")
    with pytest.raises(RuntimeError, match=r"foreign: .* was not written by this counter"):
        counter.merge([foreign], 1, 0.0)
