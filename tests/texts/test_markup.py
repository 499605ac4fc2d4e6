"""SGML and XML of NIST, IWSLT and WMT: what real files need is read, what is broken or hostile is refused by line."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base.errors import InputError, TeslaError
from tesla_eval.judgements.marked import marked_eval_set
from tesla_eval.texts.markup import SegmentKey, read_marked_set

REFERENCES = """<REFSET setid="mini" srclang="Chinese" trglang="English">
<DOC docid="d1" sysid="A">
<hl>
<seg id=1> Profits at AT&T rose &amp; fell &lt;now&gt; </seg>
</hl>
<p>
<seg id="2"> The cat sat
on the mat. </seg>
<p>
<seg id="3">A dog barked.</seg>
</DOC>
<DOC docid="d2" sysid="A"><seg id="1">It rained all day.</seg></DOC>
<DOC docid="d1" sysid="B"><seg id="1">AT&T rose and fell</seg><seg id="2">The cat sat.</seg><seg id="3">A dog.</seg>
</DOC>
</REFSET>
"""
SYSTEMS = """<tstset setid="mini" srclang="zh" trglang="en">
<doc docid="d2" sysid="s1"><seg id="1">It was raining.</seg></doc>
<doc docid="d1" sysid="s1"><seg id="1">AT&T rose < 5 <unk> </seg><seg id="2">A cat sat on the mat.</seg>
<seg id="3">The dog barked.</seg></doc>
<doc docid="d2" sysid="s2"><seg id="1">Rain.</seg></doc>
<doc docid="d1" sysid="s2"><seg id="1">AT&T</seg><seg id="2">Mat. <skipped></seg><seg id="3">Dogs.</seg></doc>
</tstset>
"""
NIST_XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE mteval SYSTEM "ftp://jaguar.ncsl.nist.gov/mt/resources/mteval-xml-v1.3.dtd">
<mteval>
<refset setid="iwslt" srclang="English" trglang="French" refid="ref1">
<doc docid="1" genre="lectures">
<url>http://www.ted.com/talks/1</url>
<keywords>talks, sea &amp; sky</keywords>
<seg id="1">Un &#233;t&#xE9; <![CDATA[ & <apr\u00e8s> ]]></seg>
</doc>
</refset>
<!-- a second one -->
<refset setid="iwslt" srclang="English" trglang="French" refid="ref2">
<doc docid="1"><seg id="1"/></doc>
</refset>
</mteval>
"""
DATASET = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest2021.en-de">
  <doc origlang="en" id="abc.1">
    <src lang="en"><p><seg id="1">Two.</seg><seg id="2">Three.</seg></p></src>
    <ref lang="de" translator="A"><p><seg id="1">Zwei.</seg><seg id="2">Drei.</seg></p></ref>
    <ref lang="de" translator="B"><p><seg id="1">2.</seg><seg id="2">3.</seg></p></ref>
    <hyp system="online-A" language="de"><p><seg id="1">Zwei.</seg><seg id="2">Vier.</seg></p></hyp>
  </doc>
</dataset>
"""


@pytest.fixture
def file(tmp_path):
    def write(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_sgml_as_nist_wrote_it(file):
    found = read_marked_set(file("ref.sgm", REFERENCES))
    assert (found.set_id, found.source_language, found.target_language) == ("mini", "Chinese", "English")
    assert list(found.references) == ["A", "B"]
    assert list(found.references["A"].texts.values()) == [
        "Profits at AT&T rose & fell <now>", "The cat sat on the mat.", "A dog barked.", "It rained all day."
    ]  # fmt: skip
    assert found.references["A"].lines[SegmentKey("d1", "3")] == 10


def test_unknown_tags_and_stray_brackets_are_text_in_sgml(file):
    found = read_marked_set(file("sys.sgml", SYSTEMS))
    assert found.systems["s1"].texts[SegmentKey("d1", "1")] == "AT&T rose < 5 <unk>"
    assert found.systems["s2"].texts[SegmentKey("d1", "2")] == "Mat."


def test_xml_of_iwslt(file):
    found = read_marked_set(file("ref.fr.xml", NIST_XML))
    assert [list(version.texts.values()) for version in found.references.values()] == [
        ["Un \u00e9t\u00e9 & <apr\u00e8s>"], [""]
    ]  # fmt: skip


def test_dataset_of_wmt(file):
    found = read_marked_set(file("newstest2021.xml", DATASET))
    assert list(found.references) == ["A", "B"]
    assert list(found.systems) == ["online-A"]
    assert found.source is not None
    assert list(found.source.texts.values()) == ["Two.", "Three."]


def test_a_document_without_sysid_belongs_to_the_system_of_its_set(file):
    text = (
        '<tstset sysid="S"><doc docid="1"><seg id="1">a</seg></doc><doc docid="2" sysid="X"><seg id="1">b</seg></doc>'
        '<doc docid="3"><seg id="1">c</seg></doc></tstset>'
    )
    systems = read_marked_set(file("sys.sgm", text)).systems
    assert {name: "".join(version.texts.values()) for name, version in systems.items()} == {
        "S": "ac",
        "X": "b",
    }


BROKEN_SGML = {
    "second id": ('<refset><doc docid="d">\n<seg id="1">a</seg>\n<seg id="1">b</seg></doc></refset>', 3, "a second"),
    "open segment": ('<refset><doc docid="d">\n<seg id="1">a\n<seg id="2">b</seg></doc></refset>', 3, "not closed"),
    "open document": ('<refset>\n<doc docid="d"><seg id="1">a</seg>\n</refset>', 3, "still open"),
    "never closed": ('<refset>\n<doc docid="d"><seg id="1">a</seg></doc>\n', 1, "never closed"),
    "no id": ('<refset><doc docid="d">\n\n<seg>a</seg></doc></refset>', 3, "no id"),
    "no document id": ('<refset>\n<doc><seg id="1">a</seg></doc></refset>', 2, "no docid"),
    "text outside": ('<refset><doc docid="d"><seg id="1">a</seg>\nlost\n</doc></refset>', 2, "outside of a segment"),
    "nothing to close": ('<refset></refset>\n</doc>', 2, "closes nothing"),
    "no set": ('\n<doc docid="d"><seg id="1">a</seg></doc>', 2, "outside of a srcset"),
    "comment": ("<refset>\n<!-- </refset>", 2, "never ends"),
    "other set": ('<refset setid="a"></refset>\n<refset setid="b"></refset>', 2, "belongs to the test set"),
    "odd attribute": ('<refset>\n<doc docid="d" "x"></doc></refset>', 2, "cannot read"),
}  # fmt: skip
HEAD = '<?xml version="1.0"?>\n'
BROKEN_XML = {
    "bare ampersand": (HEAD + '<refset><doc docid="d"><seg id="1">one\ntwo & three</seg></doc></refset>', 3, "&amp;"),
    "unknown entity": (HEAD + '<refset><doc docid="d">\n<seg id="1">&xxe;</seg></doc></refset>', 3, "not defined"),
    "stray bracket": (HEAD + '<refset><doc docid="d"><seg id="1">1 < 2</seg></doc></refset>', 2, "&lt;"),
    "no quotes": (HEAD + "<refset>\n<doc docid=d></doc></refset>", 3, "in quotes"),
    "twice": (HEAD + '<refset>\n<doc docid="a" docid="b"></doc></refset>', 3, "two attributes"),
    "capitals": (HEAD + "<REFSET></REFSET>", 2, "capitals"),
    "no version": (
        HEAD + '<dataset><doc id="d"><hyp system="A"><seg id="1">a</seg></hyp>\n<seg id="2">b</seg></doc></dataset>',
        3, "outside of <src>, <ref> and <hyp>"
    ),
    "tag in a segment": (HEAD + '<refset><doc docid="d">\n<seg id="1"><b>x</b></seg></doc></refset>', 3, "not closed"),
    "encoding": ('<?xml version="1.0" encoding="ISO-8859-1"?>\n<refset></refset>', 1, "ISO-8859-1"),
    "no character": (HEAD + '<refset><doc docid="d"><seg id="1">&#0;</seg></doc></refset>', 2, "no character"),
    "half character": (HEAD + '<refset><doc docid="d"><seg id="1">&#xD800;</seg></doc></refset>', 2, "no character"),
}  # fmt: skip
HOSTILE = {
    "entity": (HEAD + '<!DOCTYPE refset [<!ENTITY x "y">]>\n<refset></refset>', 2),
    "external entity": (HEAD + '\n<!DOCTYPE refset [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<refset></refset>', 3),
    "parameter entity": (HEAD + '<!DOCTYPE refset [<!ENTITY % x SYSTEM "http://evil.invalid/x">%x;]>', 2),
    "other document type": (HEAD + '<!DOCTYPE refset SYSTEM "http://evil.invalid/x.dtd">\n<refset></refset>', 2),
    "public identifier": (HEAD + '<!DOCTYPE refset PUBLIC "x" "http://evil.invalid/mteval.dtd">', 2),
    "billion laughs": (
        HEAD + '<!DOCTYPE mteval [<!ENTITY a "ha">'
        + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))
        + ']>\n<mteval><refset><doc docid="d"><seg id="1">&j;</seg></doc></refset></mteval>', 2
    ),
    "sgml entity": ('<!DOCTYPE refset [<!ENTITY x "y">]>\n<refset></refset>', 1),
    "depth": ("<refset>" + "\n<x>" * 100, 33),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), {**BROKEN_SGML, **BROKEN_XML}.values(),
                         ids=[*BROKEN_SGML, *BROKEN_XML])  # fmt: skip
def test_a_broken_file_is_refused_with_its_line(file, text, line, message):
    path = file("broken.sgm", text)
    with pytest.raises(InputError) as refused:
        read_marked_set(path)
    assert f"{path}, line {line}: " in str(refused.value)
    assert message in str(refused.value)


@pytest.mark.parametrize(("text", "line"), HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_files_are_refused_with_their_line(file, text, line):
    path = file("hostile.xml", text)
    with pytest.raises(InputError, match=rf"hostile\.xml, line {line}: "):
        read_marked_set(path)


@pytest.mark.parametrize("piece", ['<a "', "<!", "&a", "&#1", "<a b='", "</p>", "<seg id=1>"])
def test_no_file_takes_more_than_linear_time(file, piece):
    begun = time.process_time()
    with pytest.raises(InputError):
        read_marked_set(file("long.sgm", '<refset><doc docid="d"><seg id="1">' + piece * 20_000))
    assert time.process_time() - begun < 5


@given(st.text(alphabet="<>/!?&;#='\"[]-xabdocsegreft 1\n", max_size=200))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("fuzz") / "x.sgm"
    path.write_text(text, encoding="utf-8")
    try:
        read_marked_set(str(path))
    except TeslaError as error:
        assert str(path) in str(error)


def test_score_aligns_by_document_and_segment(tesla, file):
    references, systems = file("ref.sgm", REFERENCES), file("sys.sgm", SYSTEMS)
    outcome = tesla("score", "-r", references, systems, "-m", "chrf", "--json", "--segments")
    assert outcome.status == 0, outcome.err
    found = json.loads(outcome.out)
    assert [one["system"] for one in found["systems"]] == ["s1", "s2"]
    plain = [
        file("ref1.txt", "Profits at AT&T rose & fell <now>\nThe cat sat on the mat.\nA dog barked.\n"
             "It rained all day.\n"),
        file("ref2.txt", "AT&T rose and fell\nThe cat sat.\nA dog.\n\n"),
        file("s1.txt", "AT&T rose < 5 <unk>\nA cat sat on the mat.\nThe dog barked.\nIt was raining.\n"),
    ]  # fmt: skip
    expected = tesla("score", "-r", plain[0], "-r", plain[1], plain[2], "-m", "chrf", "--json", "--segments")
    assert json.loads(expected.out)["systems"][0]["metrics"] == found["systems"][0]["metrics"]


def test_sgml_references_with_a_plain_system(tesla, file):
    references = file("ref.sgm", REFERENCES)
    assert tesla("score", "-r", references, file("s.txt", "a\nb\nc\nd\n"), "-m", "chrf").status == 0
    outcome = tesla("score", "-r", references, file("t.txt", "a\nb\n"), "-m", "chrf")
    assert outcome.status == 2
    assert "2 lines, but the test set has 4 segments" in outcome.err


def test_references_alone_are_stressed_and_tuned_to(tesla, file):
    references = file("ref.sgm", REFERENCES)
    stressed = tesla("stress", "-l", "en", "-r", references, "-m", "chrf", "--kinds", "half", "--json")
    assert json.loads(stressed.out)["rows"][0]["texts"] == 4
    nbest = "".join(f"{k} ||| {text} ||| F= 1\n" for k in range(4) for text in ("a", "the cat"))
    tuned = tesla("tune", "-m", "chrf", "-r", references, "--nbest", file("n.best", nbest), "-o", "-")
    assert (tuned.status, tuned.out) == (0, "F 0.0\n"), tuned.err


def test_a_dataset_needs_no_other_file(tesla, file):
    outcome = tesla("score", "-l", "de", file("all.xml", DATASET), "-m", "chrf")
    assert outcome.status == 0, outcome.err
    assert "nrefs:2" in outcome.out


def test_a_system_must_have_the_segments_of_the_references(tesla, file):
    references = file("ref.sgm", REFERENCES)
    lacking = SYSTEMS.replace('<seg id="3">The dog barked.</seg>', "")
    outcome = tesla("score", "-r", references, file("lacking.sgm", lacking), "-m", "chrf")
    assert outcome.status == 2
    assert "lacking.sgm: has no segment 3 of document d1, which is in" in outcome.err
    assert "ref.sgm, line 10" in outcome.err
    more = SYSTEMS.replace('<seg id="3">The', '<seg id="9">New.</seg><seg id="3">The')
    outcome = tesla("score", "-r", references, file("more.sgm", more), "-m", "chrf")
    assert "more.sgm, line 4: segment 9 of document d1 is not in the references" in outcome.err


def test_files_in_the_wrong_place_are_named(tesla, file):
    references, systems = file("ref.sgm", REFERENCES), file("sys.sgm", SYSTEMS)
    assert "has systems, not a refset" in tesla("score", "-r", systems, systems, "-m", "chrf").err
    assert "has references, not a tstset" in tesla("score", "-r", references, references, "-m", "chrf").err


def test_compare_resamples_documents(tesla, file):
    references, systems = file("ref.sgm", REFERENCES), file("sys.sgm", SYSTEMS)
    outcome = tesla("compare", "-r", references, systems, "-m", "chrf", "--json")
    assert outcome.status == 0, outcome.err
    (metric,) = json.loads(outcome.out)["metrics"]
    assert (metric["segments"], metric["units"]) == (4, 2)
    assert [one["document"] for one in metric["documents"]] == ["d1", "d2"]
    segments = tesla("compare", "-r", references, systems, "-m", "chrf", "--json", "--docs", "none")
    assert json.loads(segments.out)["metrics"][0]["units"] == 4


@pytest.mark.parametrize("docs", [(), ("--docs", "none")])
def test_report_resamples_what_compare_resamples(tesla, file, tmp_path, docs):
    files = ("-r", file("ref.sgm", REFERENCES), file("sys.sgm", SYSTEMS), "-m", "chrf", *docs)
    (compared,) = json.loads(tesla("compare", *files, "--json").out)["metrics"]
    page = str(tmp_path / "report.html")
    assert tesla("report", *files, "-o", page).status == 0
    (reported,) = json.loads(tesla("report", "--extract", page).out)["metrics"]
    assert reported["comparison"] == compared
    assert ("resamples of 2 documents" in Path(page).read_text(encoding="utf-8")) == (docs == ())


def test_eval_set_of_sgml(file):
    found = marked_eval_set([file("ref.sgm", REFERENCES)], [file("sys.sgm", SYSTEMS)])
    assert found.key == ("zh-en", "mini")
    assert found.systems == ("s1", "s2")
    assert found.segments == ("d1:1", "d1:2", "d1:3", "d2:1")
    assert found.references[1][3] is None
