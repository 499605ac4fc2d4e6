"""Files of synonyms: each format by a small file of its own, and what is wrong with the wrong ones."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.language.analysis import senses, synonym_formats
from tesla_eval.language.analysis.pipeline import load_pipeline
from tesla_eval.language.analysis.senses import find_installed_thesaurus
from tesla_eval.language.analysis.synonym_formats import clique_cover, read_synonym_sets, read_synonyms

LMF = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.0.dtd">
<LexicalResource xmlns:dc="http://purl.org/dc/elements/1.1/">
  <Lexicon id="t" label="t" language="en" email="a@b" license="CC0" version="1">
    <LexicalEntry id="w1">
      <Lemma writtenForm="car" partOfSpeech="n"/><Sense id="w1-1" synset="t-s1"/>
    </LexicalEntry>
    <LexicalEntry id="w2">
      <Lemma writtenForm="auto" partOfSpeech="n"/><Sense id="w2-1" synset="t-s1"/>
    </LexicalEntry>
    <Synset id="t-s1" ili="i1" partOfSpeech="n"/>
  </Lexicon>
</LexicalResource>
"""

Words = set[tuple[str, ...]]


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    data = text.encode(encoding)
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.get(path.suffix, bytes)
    path.write_bytes(pack(data))
    return path


def sets_of(path: Path) -> Words:
    return {tuple(words) for words in read_synonyms(path).sets() if words}


def synonyms(path: Path, *words: str) -> bool:
    table = read_synonyms(path)
    return bool(set.intersection(*(set(table.senses(word)) for word in words)))


@pytest.mark.parametrize("name", ["own.tsv", "own.tsv.gz", "own.tsv.bz2", "own.tsv.xz"])
@pytest.mark.parametrize("text", ["# remark\ncar\tauto\n\nauto|wagon\n", "\ufeffcar\tauto\r\nauto|wagon"])
def test_plain_tsv_has_a_set_a_line(tmp_path: Path, name: str, text: str) -> None:
    path = write(tmp_path, name, text)
    assert synonyms(path, "car", "auto")
    assert synonyms(path, "auto", "wagon")
    assert not synonyms(path, "car", "wagon")


def test_wordnet_tab_files_have_a_set_a_synset(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "wn-data-fra.tab",
        "# WOLF\tfra\thttp://example.org\tCeCILL-C\n"
        "00001740-v\tfra:lemma\trespirer\n"
        "00001740-v\tfra:lemma\tinspirer\n"
        "00001740-v\tfra:def\t0\tfaire entrer l'air\n"
        "00002000-n\tlemma\tair\n",
    )
    assert sets_of(path) == {("inspirer", "respirer")}


def test_the_short_form_of_wordnet_tab_files(tmp_path: Path) -> None:
    path = write(tmp_path, "omw.tsv", "00001740-v\trespirer|inspirer\t00001111-v\n00002000-n\tair|ambiance\n")
    assert sets_of(path) == {("inspirer", "respirer"), ("air", "ambiance")}


def test_chinese_adjectives_and_adverbs_lose_their_particle(tmp_path: Path) -> None:
    path = write(
        tmp_path, "cow.tsv", "00354833-a\t交换+的|非法的\n00392875-r\t多嘴+地|慢慢地\n00000001-n\t目的|目标\n"
    )
    assert synonyms(path, "交换", "非法")
    assert synonyms(path, "多嘴", "慢慢")
    assert synonyms(path, "目的", "目标")


def test_cilin_has_a_set_a_code_and_only_equals_signs_are_synonyms(tmp_path: Path) -> None:
    path = write(
        tmp_path, "cilin.txt", "Aa01A01= 人 士 人物\nBi04A05# 狒狒 金丝猴\nBp34A01= 伞 雨伞\nAa01A05@ 匹夫\n"
    )
    assert sets_of(path) == {("人", "人物", "士"), ("伞", "雨伞")}


def test_lmf_has_a_set_a_synset(tmp_path: Path) -> None:
    pytest.importorskip("wn")
    assert sets_of(write(tmp_path, "small.xml", LMF)) == {("auto", "car")}
    assert sets_of(write(tmp_path, "small.xml.gz", LMF)) == {("auto", "car")}
    with pytest.raises(InputError, match=r"bad\.xml"):
        read_synonyms(write(tmp_path, "bad.xml", LMF.replace("</Lexicon>", "")))


def test_lmf_without_its_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wn.lmf", None)
    monkeypatch.setitem(sys.modules, "wn", None)
    with pytest.raises(UsageError, match="pip install wn"):
        read_synonyms(write(tmp_path, "small.xml", LMF))


def test_mythes_synonyms_are_what_a_headword_lists(tmp_path: Path) -> None:
    """The words of one list need not be synonyms of each other."""
    text = "UTF-8\nfurie|1\n(Nom)|folie|colère\ncolère|2\n(Nom)|rage\n(Nom)|furie\n"
    path = write(tmp_path, "thes_fr.dat", text)
    assert synonyms(path, "furie", "folie")
    assert synonyms(path, "furie", "colère")
    assert synonyms(path, "rage", "colère")
    assert not synonyms(path, "folie", "colère")


def test_mythes_lists_that_repeat_a_synset_are_one_set(tmp_path: Path) -> None:
    members = ["auto", "karre", "pkw", "wagen"]
    text = "UTF-8\n" + "".join(f"{word}|1\n-|{'|'.join(members)}\n" for word in members)
    assert sets_of(write(tmp_path, "th_de.dat", text)) == {tuple(members)}


def test_mythes_notes_are_stripped_and_what_is_no_synonym_is_dropped(tmp_path: Path) -> None:
    entries = "(sich) einsetzen (für)|Karre (ugs., fig.)|Fahrzeug (Oberbegriff)|zu Fuß|bike (generic term)"
    path = write(tmp_path, "th_de.dat", f"UTF-8\nwagen|1\n-|{entries}\n")
    assert synonyms(path, "wagen", "einsetzen")
    assert synonyms(path, "wagen", "karre")
    assert set(read_synonyms(path).sets()[0]) <= {"wagen", "einsetzen", "karre"}
    assert "fahrzeug" not in read_synonyms(path)
    assert "bike" not in read_synonyms(path)


@pytest.mark.parametrize("encoding", ["ISO8859-12", "cp1259"])
def test_an_encoding_that_does_not_exist_is_named(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path, "th.dat", f"{encoding}\ncar|1\n-|auto\n")
    with pytest.raises(
        InputError, match=rf"th\.dat, line 1: there is no encoding {encoding.upper()}; convert"
    ):
        read_synonyms(path)


def test_mythes_is_read_in_the_encoding_it_names(tmp_path: Path) -> None:
    path = write(tmp_path, "th_es.dat", "ISO8859-1\nalá|1\n-|dios|altísimo\n", "iso8859-1")
    assert synonyms(path, "alá", "altísimo")


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("car\tauto\nalone\n", 2, "must have two or more words"),
        ("UTF-8\ncar|1\n-|auto\ncar auto\n", 4, "must be a headword"),
        ("UTF-8\ncar|2\n-|auto\n", 3, "1 more senses"),
        ("Aa01A01= 人 士\n人物 人士\n", 2, "not a Cilin code"),
        ("00001740-v\tlemma\trespirer\nrespirer\n", 2, "must be a synset id"),
        ("# a wordnet with ids of its own\n17-v\tfra:lemma\trespirer\n", 2, "must be a synset id"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, line: int, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        read_synonyms(write(tmp_path, "wrong.txt", text))
    assert f"wrong.txt, line {line}:" in str(caught.value)


def test_bytes_that_are_not_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "latin.tsv"
    path.write_bytes(b"car\tauto\nall\xe9\tvenue\n")
    with pytest.raises(InputError, match=r"latin\.tsv, line 2: is not valid UTF-8"):
        read_synonyms(path)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.tsv: cannot be read"):
        read_synonyms(tmp_path / "absent.tsv")
    (tmp_path / "cut.tsv.gz").write_bytes(gzip.compress(b"car\tauto\n" * 99)[:-9])
    with pytest.raises(InputError, match=r"cut\.tsv\.gz: is not a sound gzip file"):
        read_synonyms(tmp_path / "cut.tsv.gz")
    with pytest.raises(InputError, match="no set with two or more single words"):
        read_synonyms(write(tmp_path, "empty.tsv", ""))


def test_a_file_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synonym_formats, "_MOST_BYTES", 1 << 20)
    with pytest.raises(InputError, match="larger than 1 MB"):
        read_synonyms(write(tmp_path, "bomb.tsv.gz", "a\tb\n" * (1 << 20)))


@given(
    st.lists(st.tuples(st.sampled_from("abcdefg"), st.frozensets(st.sampled_from("abcdefg"))), max_size=12)
)
def test_cliques_cover_the_listed_pairs_and_no_others(senses: list[tuple[str, frozenset[str]]]) -> None:
    lists = [(headword, set(listed) - {headword}) for headword, listed in senses]
    listed = {frozenset((headword, word)) for headword, words in lists for word in words}
    covered = {frozenset(pair) for words in clique_cover(lists) for pair in combinations(words, 2)}
    assert covered == listed


def test_an_installed_thesaurus_is_found_by_its_name(tmp_path: Path) -> None:
    for name in (
        "th_cs_CZ_v2.dat",
        "th_de_CH_v2.dat",
        "th_de_DE_v2.dat",
        "thes_fr.dat",
        "th_fr_CA_v2.dat",
        "th_nb_NO.dat",
    ):
        (tmp_path / name).touch()
    folders = [str(tmp_path)]
    assert find_installed_thesaurus("cs", folders) == tmp_path / "th_cs_CZ_v2.dat"
    assert find_installed_thesaurus("de", folders) == tmp_path / "th_de_DE_v2.dat"
    assert find_installed_thesaurus("fr", folders) == tmp_path / "thes_fr.dat"
    assert find_installed_thesaurus("no", folders) == tmp_path / "th_nb_NO.dat"
    assert find_installed_thesaurus("sk", folders) is None
    assert find_installed_thesaurus("cs", [str(tmp_path.parent / "*")]) == tmp_path / "th_cs_CZ_v2.dat"


ITALIAN_THESAURUS = "UTF-8\nauto|1\n-|macchina|vettura\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where thesauri are looked for."""
    monkeypatch.setattr(senses, "THESAURUS_FOLDERS", (str(tmp_path),))
    load_pipeline.cache_clear()
    return tmp_path


def test_an_installed_thesaurus_is_used_when_asked_for(tesla: Any, write: Any, installed: Path) -> None:
    (installed / "th_it_IT_v2.dat").write_text(ITALIAN_THESAURUS, encoding="utf-8")
    arguments = (
        "score",
        "-l",
        "it",
        "-r",
        write("r.txt", ["Ho una macchina nuova."]),
        write("h.txt", ["Ho un auto nuova."]),
    )
    without, asked = tesla(*arguments, "-m", "m"), tesla(*arguments, "-m", "m:synonyms=installed")
    assert "senses:none" in without.out
    assert "no synonyms" in without.err
    assert f"{installed / 'th_it_IT_v2.dat'}: -m m:synonyms=installed would use it" in without.err
    assert re.search(r"senses:installed-[0-9a-f]{8}", asked.out)
    assert "no synonyms" not in asked.err
    score = [float(outcome.out.splitlines()[1].split()[-1]) for outcome in (without, asked)]
    assert score[1] > score[0]


def test_a_thesaurus_that_is_not_installed_is_an_error(tesla: Any, write: Any, installed: Path) -> None:
    text = write("r.txt", ["Ho un auto."])
    outcome = tesla("score", "-l", "it", "-r", text, text, "-m", "m:synonyms=installed")
    assert outcome.status == 2
    assert "no thesaurus for 'it' is installed" in outcome.err
    assert "mythes-it" in outcome.err


def test_the_fingerprint_of_an_installed_thesaurus_follows_its_words(installed: Path) -> None:
    fingerprints = set()
    for text in (ITALIAN_THESAURUS, ITALIAN_THESAURUS.replace("vettura", "veicolo")):
        (installed / "th_it_IT_v2.dat").write_text(text, encoding="utf-8")
        load_pipeline.cache_clear()
        fingerprints.add(load_pipeline("it", "installed").signature["senses"])
    assert len(fingerprints) == 2


def test_sets_keep_the_words_of_the_file(tmp_path: Path) -> None:
    assert read_synonym_sets(write(tmp_path, "own.tsv", "Auto\tzu Fuß\n")) == [["Auto", "zu Fuß"]]


def test_no_synonyms_as_asked_for_is_no_shortcoming(tesla: Any, write: Any) -> None:
    reference, system = write("r.txt", ["I have a car."]), write("s.txt", ["I have an automobile."])
    for metric in ("m", "celab"):
        outcome = tesla("score", "-m", f"{metric}:synonyms=none", "-r", reference, system)
        assert "senses:none" in outcome.out
        assert "synonyms" not in outcome.err
