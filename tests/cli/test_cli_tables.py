"""Inputs of other tools: tables with named columns, tab-separated pipes, compressed files."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tesla_eval.texts.lines import LineReader, read_lines
from tesla_eval.texts.tables import open_table

REFERENCES = ["The cat sat on the mat.", "A storm hit Spain.", 'It "rained", all day.']
FIRST = ["The cats sat on a mat.", "Spain was hit by a storm.", "It rained."]
SECOND = ["The cat sat on the mat.", "A storm hits Spain.", "It rained all night."]


@pytest.fixture
def expected(tesla, write) -> list[float]:
    ref, first, second = (write(f"{i}.txt", texts) for i, texts in enumerate((REFERENCES, FIRST, SECOND)))
    return scores(tesla("score", "-r", ref, first, second, "-m", "m", "--json"))


def scores(outcome) -> list[float]:
    assert outcome.status == 0, outcome.err
    return [system["metrics"]["tesla-m"]["score"] for system in json.loads(outcome.out)["systems"]]


def as_tsv(columns: dict[str, list[str]]) -> bytes:
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def as_csv(columns: dict[str, list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return text.getvalue().encode()


def as_json(columns: dict[str, list[str]]) -> bytes:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_parquet(columns: dict[str, list[str]]) -> bytes:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    buffer = io.BytesIO()
    parquet.write_table(arrow.table(columns), buffer)
    return buffer.getvalue()


FORMATS = {"tsv": as_tsv, "csv": as_csv, "jsonl": as_json, "parquet": as_parquet}


@pytest.mark.parametrize("ending", FORMATS)
def test_columns_that_comet_names_need_no_option(tesla, write, expected, ending) -> None:
    table = write(f"comet.{ending}", FORMATS[ending]({"src": REFERENCES, "mt": FIRST, "ref": REFERENCES}))
    assert scores(tesla("score", table, "-m", "m", "--json")) == expected[:1]


@pytest.mark.parametrize("ending", FORMATS)
def test_named_columns_are_systems_and_references(tesla, write, expected, ending) -> None:
    content = FORMATS[ending]({"A": FIRST, "note": ["", "", ""], "gold": REFERENCES, "B": SECOND})
    table = write(f"table.{ending}", content)
    found = tesla("score", table, "-m", "m", "--columns", "hyp=A+B,ref=gold", "--json")
    assert scores(found) == expected
    assert [system["system"] for system in json.loads(found.out)["systems"]] == ["A", "B"]
    compared = tesla("compare", table, "-m", "m", "--columns", "hyp=A+B,ref=gold", "--json")
    assert [system["score"] for system in json.loads(compared.out)["metrics"][0]["systems"]] == expected


def test_several_tables_are_systems_about_the_same_references(tesla, write, expected) -> None:
    first = write("a.csv", as_csv({"mt": FIRST, "ref": REFERENCES}))
    second = write("b.jsonl", as_json({"mt": SECOND, "ref": REFERENCES}))
    assert scores(tesla("score", first, second, "-m", "m", "--json")) == expected
    other = write("c.jsonl", as_json({"mt": SECOND, "ref": SECOND}))
    found = tesla("score", first, other, "-m", "m")
    assert found.status == 2
    assert f"{other}, line 2" in found.err
    shorter = write("d.jsonl", as_json({"mt": SECOND[:2], "ref": REFERENCES[:2]}))
    found = tesla("score", first, shorter, "-m", "m")
    assert found.status == 2
    assert f"{shorter}: has 2 rows" in found.err


def test_references_may_be_a_list_of_any_length(tesla, write) -> None:
    rows = [{"mt": "A cat.", "ref": ["A cat.", "One cat."]}, {"mt": "A dog.", "ref": ["A dog."]}]
    table = write("several.jsonl", [json.dumps(row) for row in rows])
    found = tesla("score", table, "-m", "m", "--json")
    assert json.loads(found.out)["metrics"]["tesla-m"]["signature"].endswith("nrefs:var")


def test_a_role_that_comes_twice_has_both_columns(tesla, write) -> None:
    table = write("t.csv", as_csv({"mt": FIRST, "a": REFERENCES, "b": SECOND}))
    twice, joined = (
        tesla("score", table, "-m", "m", "--columns", columns) for columns in ("ref=a,ref=b", "ref=a+b")
    )
    assert twice.out == joined.out
    assert twice.out.rstrip().endswith("nrefs:2")


def test_null_in_a_list_of_references_is_one_that_is_missing(tesla, write) -> None:
    rows = '{{"mt": "a cat", "ref": {0}}}\n{{"mt": "a dog", "ref": ["a dog", "a hound"]}}\n'
    short, with_null = (
        tesla("score", write("t.jsonl", rows.format(references).encode()), "-m", "m", "--segments")
        for references in ('["the cat"]', '["the cat", null]')
    )
    assert with_null.status == 0
    assert with_null.out == short.out


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("t.tsv", b"mt\tref\na\tb\nonly one\n", ("line 3", "1 fields", "2")),
        ("t.tsv", b"mt\tmt\na\tb\n", ("line 1", "two columns", "'mt'")),
        ("t.tsv", b"x\ty\na\tb\n", ("which column holds the hypotheses", "x, y")),
        ("t.tsv", b"mt\ty\na\tb\n", ("which column holds the references",)),
        ("t.tsv", b"mt\tref\n", ("is empty",)),
        ("t.csv", b'mt,ref\na,"b\nc\n', ("line", "CSV")),
        ("t.csv", b'mt,ref\n"a"x,b\n', ("line 2", "CSV")),
        ("t.jsonl", b'{"mt": "a", "ref": "b"}\n{"mt": "a"}\n', ("line 2", "'ref'")),
        ("t.jsonl", b'{"mt": "a", "ref": 7}\n', ("line 1", "'ref'")),
        ("t.jsonl", b'{"mt": "a", "ref": ["b", 7]}\n', ("line 1", "'ref'", "list of texts")),
        ("t.jsonl", b'{"mt": "a", "ref": "b"}\nno json\n', ("line 2", "not JSON")),
        ("t.parquet", b"PAR1 no parquet", ("Parquet",)),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tesla, write, name, content, parts) -> None:
    found = tesla("score", write(name, content), "-m", "m")
    assert (found.status, found.out) == (2, "")
    assert "Traceback" not in found.err
    for part in parts:
        assert part in found.err


def test_columns_that_are_not_there_or_badly_written(tesla, write) -> None:
    table = write("t.tsv", as_tsv({"mt": FIRST, "ref": REFERENCES}))
    found = tesla("score", table, "-m", "m", "--columns", "hyp=nmt,ref=ref")
    assert found.status == 2
    assert "'nmt'" in found.err and "mt, ref" in found.err
    assert tesla("score", table, "-m", "m", "--columns", "system=mt").status == 2
    assert tesla("score", table, "-m", "m", "--columns", "hyp").status == 2
    assert "is no table" in tesla("score", write("t.txt", ["a"]), "-m", "m", "--columns", "hyp=mt").err
    assert "leave out -r" in tesla("score", "-r", table, table, "-m", "m", "--columns", "hyp=mt").err


def test_a_field_that_never_ends_is_bounded(tesla, write, monkeypatch) -> None:
    monkeypatch.setattr("tesla_eval.texts.tables._LONGEST_FIELD", 1000)
    table = write("t.csv", b'mt,ref\n"' + b"never closed\n" * 1000)
    found = tesla("score", table, "-m", "m")
    assert found.status == 2
    assert "field larger than field limit" in found.err


@pytest.mark.parametrize("module", ["pyarrow"])
def test_parquet_without_its_package_is_explained(tesla, write, monkeypatch, module) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    found = tesla("score", write("t.parquet", b"PAR1"), "-m", "m")
    assert found.status == 2
    assert "pip install 'tesla-eval[parquet]'" in found.err


def test_tables_stream_in_constant_memory(tmp_path: Path) -> None:
    """Only two chunks of a long table are read ahead: the error in the third stops it before the rest is read."""
    from tesla_eval.base.errors import InputError
    from tesla_eval.cli.shared.inputs import TextOptions, open_outputs

    path = tmp_path / "long.tsv"
    with path.open("w") as handle:
        handle.write("mt\tref\n")
        handle.writelines("a\tb\n" for _ in range(5000))
        handle.write("broken\n")
    chunks = open_outputs(TextOptions((), (str(path),)), ()).chunks
    assert len(next(chunks).systems[0]) == 1024
    with pytest.raises(InputError, match="line 5002"):
        list(chunks)


def run(*arguments: str, text: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tesla_eval.cli", *arguments]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=False)


def test_a_pipe_is_one_system_or_several_between_tabs(write, expected) -> None:
    ref = write("ref.txt", REFERENCES)
    one = run("score", "-r", ref, "-m", "m", "--json", text="\n".join(FIRST) + "\n")
    assert json.loads(one.stdout)["systems"][0]["metrics"]["tesla-m"]["score"] == expected[0]
    pairs = "".join(f"{a}\t{b}\n" for a, b in zip(FIRST, SECOND, strict=True))
    two = json.loads(run("score", "-r", ref, "-m", "m", "--json", text=pairs).stdout)["systems"]
    assert [system["system"] for system in two] == ["System 1", "System 2"]  # sacreBLEU's names
    assert [system["metrics"]["tesla-m"]["score"] for system in two] == expected
    ragged = run("score", "-r", ref, "-m", "m", text=pairs.replace("\t", " ", 2).replace(" ", "\t", 1))
    assert ragged.returncode == 2
    assert "standard input, line 2" in ragged.stderr
    empty = run("score", "-r", ref, "-m", "m", text="")
    assert empty.returncode == 2
    assert "standard input: is empty" in empty.stderr


def compressors() -> list[object]:
    found = [
        pytest.param(".gz", gzip.compress),
        pytest.param(".bz2", bz2.compress),
        pytest.param(".xz", lzma.compress),
    ]
    try:
        from compression import zstd as zstandard  # type: ignore[import-not-found]
    except ImportError:
        zstandard = pytest.importorskip("zstandard")
    return [*found, pytest.param(".zst", zstandard.compress)]


@pytest.mark.parametrize(("ending", "compress"), compressors())
class TestCompressedFiles:
    LINES = tuple(f"Zeile {i} é" for i in range(30000))
    DATA = "".join(f"{line}\n" for line in LINES).encode()

    def test_are_read_as_the_plain_file(self, write, ending, compress) -> None:
        assert tuple(read_lines(write("a" + ending, compress(self.DATA)))) == self.LINES

    def test_may_have_several_parts(self, write, ending, compress) -> None:
        content = compress(self.DATA[:1000]) + compress(self.DATA[1000:])
        assert tuple(read_lines(write("a" + ending, content))) == self.LINES

    def test_that_end_early_are_refused(self, write, ending, compress) -> None:
        from tesla_eval.base.errors import InputError

        packed = compress(self.DATA)
        with pytest.raises(InputError, match="is not a sound"):
            read_lines(write("a" + ending, packed[: len(packed) // 2]))
        with pytest.raises(InputError, match="is not a sound"):
            read_lines(write("b" + ending, b"plain text"))

    def test_without_their_ending_are_recognised(self, write, ending, compress) -> None:
        from tesla_eval.base.errors import InputError

        with pytest.raises(InputError, match=f"ends in {ending}"):
            read_lines(write("a.txt", compress(self.DATA)))

    def test_bombs_are_bounded_by_the_length_of_a_line(self, write, monkeypatch, ending, compress) -> None:
        from tesla_eval.base.errors import InputError

        monkeypatch.setattr("tesla_eval.texts.lines._LONGEST_LINE", 1 << 22)
        path = write("bomb" + ending, compress(bytes(1 << 27)))
        assert os.path.getsize(path) < 1 << 20  # noqa: PTH202
        with pytest.raises(InputError, match="line 1: is longer"):
            read_lines(path)

    def test_many_lines_are_no_bomb(self, write, monkeypatch, ending, compress) -> None:
        monkeypatch.setattr("tesla_eval.texts.lines._LONGEST_LINE", 1 << 12)
        assert sum(1 for _ in LineReader(write("a" + ending, compress(b"x\n" * (1 << 20))))) == 1 << 20


def test_an_xz_file_that_asks_for_much_memory_is_refused(write, monkeypatch) -> None:
    from tesla_eval.base.errors import InputError

    monkeypatch.setattr("tesla_eval.texts.compression._XZ_MEMORY", 1 << 20)
    with pytest.raises(InputError, match=r"is not a sound xz file .*[Mm]emory"):
        read_lines(write("a.xz", lzma.compress(b"x\n", preset=6)))


def test_zst_without_a_package_is_explained(tesla, write, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    found = tesla("score", "-r", write("a.zst", b"x"), write("b.txt", ["x"]))
    assert found.status == 2
    assert "pip install 'tesla-eval[zstd]'" in found.err


def test_the_limit_of_csv_fields_stays_that_of_the_process(tesla, write) -> None:
    """Also while two tables are read in step, and after one of which the rest is never read."""
    before = csv.field_size_limit()
    first, second = (
        write(f"{name}.csv", as_csv({"mt": texts, "ref": REFERENCES}))
        for name, texts in (("a", FIRST), ("b", ["x" * (before + 1), *SECOND[1:]]))
    )
    assert tesla("score", first, second, "-m", "chrf").status == 0
    rows = open_table(first).rows
    next(rows)
    assert csv.field_size_limit() == before


def test_a_tsv_with_the_quotes_of_csv_is_scored_as_it_is_with_a_warning(tesla, write) -> None:
    quoted = write("t.tsv", ["mt\tref", '"He said ""no""."\tHe said "no".', '"Yes ""sir"""\tYes'])
    plain = write("p.tsv", ["mt\tref", '"Yes."\tYes.', '"A" or "B"\tA or B', '""\tx'])
    found = tesla("score", "-m", "m", quoted)
    assert found.status == 0
    assert found.err == (
        f"warning: {quoted}, line 2: has a field in quotation marks, which a .csv file would lose; "
        "a .tsv file is read as it is\n"
    )
    assert tesla("score", "-m", "m", plain).err == ""
    assert tesla("score", "-l", "auto", "-m", "m", quoted).err.count("quotation marks") == 1


def long_form(order: str) -> dict[str, list[str]]:
    """One row for each output, as WMT publishes them: by system, or by segment."""
    rows = [(name, k) for name in "AB" for k in range(3)]
    if order == "by segment":
        rows.sort(key=lambda row: row[1])
    outputs = {"A": FIRST, "B": SECOND}
    return {
        "system": [name for name, _ in rows],
        "seg_id": [str(k) for _, k in rows],
        "hypothesis": [outputs[name][k] for name, k in rows],
        "reference": [REFERENCES[k] for _, k in rows],
    }


class TestSystemColumn:
    """A column that names the system of each row makes systems of the table's rows."""

    @pytest.mark.parametrize("ending", FORMATS)
    @pytest.mark.parametrize("order", ["by system", "by segment"])
    def test_its_names_are_systems(self, tesla, write, expected, ending, order) -> None:
        table = write(f"wmt.{ending}", FORMATS[ending](long_form(order)))
        found = tesla("score", table, "-m", "m", "--json")
        assert scores(found) == expected
        assert [system["system"] for system in json.loads(found.out)["systems"]] == ["A", "B"]
        compared = tesla("compare", table, "-m", "m", "--json")
        assert [system["score"] for system in json.loads(compared.out)["metrics"][0]["systems"]] == expected

    def test_another_column_may_be_named(self, tesla, write, expected) -> None:
        columns = long_form("by segment")
        table = write("t.csv", as_csv({"engine": columns.pop("system"), **columns}))
        found = tesla("score", table, "-m", "m", "--columns", "system=engine", "--json")
        assert scores(found) == expected

    def test_each_system_has_all_segments_in_one_order(self, tesla, write) -> None:
        columns = long_form("by system")
        short = write("short.csv", as_csv({name: cells[:-1] for name, cells in columns.items()}))
        assert "short.csv, B: has 2 rows" in tesla("score", short, "-m", "m").err
        columns["reference"][3:5] = columns["reference"][4:2:-1]
        assert (
            "line 5: has other references than"
            in tesla("score", write("t.csv", as_csv(columns)), "-m", "m").err
        )

    def test_it_goes_with_one_column_of_outputs(self, tesla, write, expected) -> None:
        table = write("t.csv", as_csv({"system": ["x"] * 3, "A": FIRST, "B": SECOND, "ref": REFERENCES}))
        assert scores(tesla("score", table, "-m", "m", "--columns", "hyp=A+B", "--json")) == expected
        found = tesla("score", table, "-m", "m", "--columns", "hyp=A+B,system=system")
        assert (found.status, "one column of hypotheses" in found.err) == (2, True)


class TestScoresInTables:
    """`-o` with a table's ending writes the same rows whatever the ending is: those of the table, with scores."""

    @pytest.mark.parametrize("order", ["by system", "by segment"])
    def test_rows_are_the_same_in_every_format(self, tesla, write, tmp_path, expected, order) -> None:
        pytest.importorskip("pyarrow")
        from pyarrow import parquet

        table = write("wmt.parquet", as_parquet(long_form(order)))
        outputs = {ending: tmp_path / f"out.{ending}" for ending in ("csv", "tsv", "parquet")}
        shown = {e: tesla("score", table, "-m", "m,chrf", "-o", str(path)) for e, path in outputs.items()}
        assert shown["csv"].out == shown["tsv"].out == shown["parquet"].out
        assert [line.split()[0] for line in shown["csv"].out.splitlines()[1:3]] == ["A", "B"]
        rows = parquet.read_table(outputs["parquet"]).to_pylist()
        assert list(rows[0]) == ["system", "seg_id", "tesla-m", "chrf"]
        for ending, separator in (("csv", ","), ("tsv", "\t")):
            with outputs[ending].open(newline="") as file:
                read = list(csv.DictReader(file, delimiter=separator))
            assert [{**row, **{m: float(row[m]) for m in ("tesla-m", "chrf")}} for row in read] == rows
        of_first = [row["tesla-m"] for row in rows if row["system"] == "A"]
        assert sum(of_first) / 3 == pytest.approx(expected[0])

    def test_columns_are_carried_over_and_skipped_rows_are_not(self, tesla, write, tmp_path) -> None:
        columns = {"id": ["x", "y", "z"], "A": [FIRST[0], "", FIRST[2]], "B": SECOND, "ref": REFERENCES}
        table, output = write("t.csv", as_csv(columns)), tmp_path / "out.csv"
        asked = ("score", table, "-m", "m", "--columns", "hyp=A+B", "-o", str(output))
        assert tesla(*asked, "--missing", "skip").status == 0
        head, *rows = csv.reader(output.read_text("utf-8").splitlines())
        assert head == ["id", "A:tesla-m", "B:tesla-m"]
        assert [row[0] for row in rows] == ["x", "z"]
        assert tesla(*asked, "--keep", "ref,id").status == 0
        assert output.read_text("utf-8").startswith("ref,id,A:tesla-m,B:tesla-m\n")
        assert "no column 'year'" in tesla(*asked, "--keep", "year").err

    def test_a_format_or_segments_that_are_asked_for_are_written(self, tesla, write, tmp_path) -> None:
        table, output = write("t.csv", as_csv({"mt": FIRST, "ref": REFERENCES})), tmp_path / "out.csv"
        assert tesla("score", table, "-m", "m", "-o", str(output), "--format", "csv").status == 0
        assert output.read_text("utf-8").startswith("system,metric,score,signature\n")
        assert tesla("score", table, "-m", "m", "-o", str(output), "--segments").status == 0
        assert output.read_text("utf-8").startswith("system,segment,metric,score\n")
        lines = (write("r.txt", REFERENCES), write("s.txt", FIRST))
        assert tesla("score", "-r", *lines, "-m", "m", "-o", str(output)).status == 0
        assert output.read_text("utf-8").startswith("system,metric,score,signature\n")
        assert "rows of one table" in tesla("score", table, table, "-m", "m", "-o", str(output)).err
        assert "--keep goes with" in tesla("score", "-r", *lines, "-m", "m", "--keep", "id").err


class TestShapesOfTables:
    @pytest.mark.parametrize("separator", [";", "\t"])
    def test_other_separators_of_csv_are_recognised(self, tesla, write, expected, separator) -> None:
        text = io.StringIO()
        rows = [["mt", "ref"], *zip(FIRST, REFERENCES, strict=True)]
        csv.writer(text, delimiter=separator).writerows(rows)
        assert (
            scores(tesla("score", write("t.csv", text.getvalue().encode()), "-m", "m", "--json"))
            == expected[:1]
        )

    @pytest.mark.parametrize("ending", ["csv", "tsv"])
    def test_columns_without_a_header_have_numbers(self, tesla, write, expected, ending) -> None:
        content = FORMATS[ending]({"id": ["x", "y", "z"], "out": FIRST, "gold": REFERENCES})
        headless = write(f"t.{ending}", content.partition(b"\n")[2])
        asked = ("-m", "m", "--columns", "hyp=2,ref=3", "--json")
        assert scores(tesla("score", headless, *asked)) == expected[:1]
        known = FORMATS[ending]({"id": ["x", "y", "z"], "mt": FIRST, "ref": REFERENCES})
        assert (
            scores(tesla("score", write(f"h.{ending}", known), *asked)) == expected[:1]
        )  # the header is no row
        assert "no column '4'" in tesla("score", headless, "-m", "m", "--columns", "hyp=2,ref=4").err
        advice = tesla("score", headless, "-m", "m").err
        assert "hint: write --columns hyp=NAME,ref=NAME" in advice
        assert "or by number hyp=1,ref=2 if there is no header" in advice

    @pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
    def test_a_table_comes_through_a_pipe(self, write, expected, ending) -> None:
        content = FORMATS[ending]({"mt": FIRST, "ref": REFERENCES, "out": SECOND}).decode()
        for arguments, score in ((("-",), 0), ((), 0), (("--columns", "hyp=out,ref=ref"), 1)):
            found = json.loads(run("score", *arguments, "-m", "m", "--json", text=content).stdout)
            assert found["systems"][0]["metrics"]["tesla-m"]["score"] == expected[score]
        unknown = run("score", "-m", "m", text="one line\nanother\n")
        assert unknown.returncode == 2
        assert "which column holds the hypotheses?" in unknown.stderr
        assert "one segment per line goes with a file of references (-r)" in unknown.stderr

    def test_target_is_the_name_of_a_reference(self, tesla, write, expected) -> None:
        table = write("t.csv", as_csv({"source": FIRST, "target": REFERENCES, "prediction": FIRST}))
        assert scores(tesla("score", table, "-m", "m", "--json")) == expected[:1]

    def test_a_table_beside_references_is_refused_with_the_command(self, tesla, write) -> None:
        ref, plain = write("ref.txt", REFERENCES), write("plain.tsv", FIRST)
        table = write("t.tsv", as_tsv({"mt": FIRST, "ref": REFERENCES}))
        for arguments in (("-r", ref, table), ("-r", table, plain)):
            found = tesla("score", *arguments, "-m", "m")
            assert (found.status, found.out) == (2, "")
            assert f"error: {table}: is a table" in found.err
            assert (
                f"hint: name the columns instead of -r: tesla score {table} --columns hyp=NAME,ref=NAME"
                in found.err
            )
        assert tesla("score", "-r", ref, plain, "-m", "m").status == 0  # lines without a tab are lines
