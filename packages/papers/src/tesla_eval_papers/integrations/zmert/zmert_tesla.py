"""Run Z-MERT with TESLA as the metric, and guard against Z-MERT's traps.

Usage: zmert_tesla.py ZMERT_JAR CONFIG        in the folder that CONFIG's paths are relative to

It compiles TESLA.java and a registered copy of Z-MERT's EvaluationMetric.java into a temporary folder (needs a JDK),
checks the configuration, and checks every n-best list that the decoder writes before Z-MERT reads it.
"""

from __future__ import annotations

import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEFAULTS = {
    "-r": "reference.txt", "-rps": "1", "-p": "params.txt", "-m": "BLEU 4 closest", "-cmd": "./dec_cmd",
    "-decOut": "output.nbest", "-dcfg": "dec_cfg.txt", "-N": "100", "-txtNrm": "1",
}  # fmt: skip
"""What Z-MERT assumes where the configuration says nothing."""


class ConfigError(Exception):
    """A configuration that Z-MERT should not be started with."""


def read_config(path: Path) -> dict[str, str]:
    """The options of a Z-MERT configuration: one `-key value` per line."""
    options = dict(DEFAULTS)
    for line in path.read_text("utf-8").splitlines():
        key, _, value = line.split("#")[0].strip().partition("\t" if "\t" in line else " ")
        if key:
            options[key] = value.strip()
    return options


def count_sentences(options: dict[str, str], folder: Path) -> int:
    """How many sentences the references are for."""
    each = int(options["-rps"])
    lines = (folder / options["-r"]).read_bytes().count(b"\n")
    if lines % each:
        raise ConfigError(
            f"{options['-r']}: {lines} lines cannot be shared by -rps {each} references per sentence"
        )
    return lines // each


def parameter_names(path: Path) -> list[str]:
    """The names of the features, in order."""
    return [line.split("|||")[0].strip() for line in path.read_text("utf-8").splitlines() if "|||" in line]


def check(options: dict[str, str], folder: Path) -> None:
    """Refuse what Z-MERT would stumble over without a word."""
    if options["-m"].split()[:1] != ["TESLA"] or len(options["-m"].split()) != 3:
        raise ConfigError("the configuration must say: -m TESLA METRIC LANGUAGE, such as -m TESLA m en")
    if options["-txtNrm"] != "0":
        raise ConfigError("add -txtNrm 0: Z-MERT splits punctuation otherwise, in the references too")
    if count_sentences(options, folder) > 65_535:
        raise ConfigError("more than 65,535 sentences: the sums of Z-MERT's statistics overflow")
    backup = folder / f"{options['-dcfg']}.ZMERT.orig"
    if backup.exists():
        raise ConfigError(
            f"{backup} is left from a run that was killed: rename it back to {options['-dcfg']}"
        )
    output = folder / options["-decOut"]
    leftovers = [*folder.glob("ZMERT.temp.*"), *output.parent.glob(f"{output.name}.temp.*")]
    if leftovers:
        raise ConfigError(
            f"delete {leftovers[0]} and the like first: Z-MERT would take its old scores for new ones"
        )
    names = parameter_names(folder / options["-p"])
    for line in (folder / options["-p"]).read_text("utf-8").splitlines():
        words = line.replace("=", " ").split()
        if words[:2] == ["normalization", "absval"] and (len(words) != 4 or words[3] not in names):
            raise ConfigError(
                f"{options['-p']}: normalization = absval VALUE NAME needs the name of a parameter"
            )


def register(source: str) -> str:
    """EvaluationMetric.java with the two registrations of register.patch."""
    added = source
    for before, after in (
        ('    metricOptionCount.put("TER-BLEU",6);\n', '    metricOptionCount.put("TESLA",2);\n'),
        (
            "    return retMetric;\n",
            '    if (metricName.equals("TESLA")) retMetric = new TESLA(metricOptions);\n',
        ),
    ):
        if added.count(before) != 1:
            raise ConfigError("this Z-MERT is not version 1.40: apply register.patch by hand")
        added = added.replace(before, before + after if "put(" in before else after + before)
    return added


def compile_metric(jar: Path, build: Path) -> None:
    """Compile the metric and the class that knows it, to be found before those of the jar."""
    with zipfile.ZipFile(jar) as archive:
        source = archive.read("EvaluationMetric.java").decode("utf-8").replace("\r\n", "\n")
    (build / "EvaluationMetric.java").write_text(register(source), "utf-8")
    shutil.copy(HERE / "TESLA.java", build)
    javac = shutil.which("javac")
    if javac is None:
        raise ConfigError("javac is not on the PATH: install a JDK")
    sources = [str(build / name) for name in ("EvaluationMetric.java", "TESLA.java")]
    subprocess.run([javac, "-nowarn", "-cp", str(jar), "-d", str(build), *sources], check=True)


def guarded_config(config: Path, options: dict[str, str], folder: Path, build: Path) -> Path:
    """A copy of the configuration whose decoder command is followed by the check of its list."""
    checked = [
        sys.executable, str(HERE / "check_nbest.py"), options["-decOut"], str(count_sentences(options, folder)),
        str(len(parameter_names(folder / options["-p"]))), options["-N"],
    ]  # fmt: skip
    command = build / "decode"
    command.write_text(f"#!/bin/sh\nset -e\n{options['-cmd']}\nexec {shlex.join(checked)} 1>&2\n", "utf-8")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    copy = build / "config"
    lines = [line for line in config.read_text("utf-8").splitlines() if line.split()[:1] != ["-cmd"]]
    copy.write_text("\n".join([*lines, f"-cmd\t{command}", ""]), "utf-8")
    return copy


def main() -> None:
    """Check, compile, run."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    jar, config, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), Path.cwd()
    try:
        options = read_config(config)
        check(options, folder)
        with tempfile.TemporaryDirectory(prefix="zmert-tesla-") as name:
            build = Path(name)
            compile_metric(jar, build)
            guarded = guarded_config(config, options, folder, build)
            ended = subprocess.run(["java", "-cp", f"{build}:{jar}", "ZMERT", str(guarded)], check=False)
    except (ConfigError, OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        sys.exit(f"zmert_tesla: {error}")
    except subprocess.CalledProcessError:
        sys.exit("zmert_tesla: TESLA.java could not be compiled")
    sys.exit(ended.returncode)


if __name__ == "__main__":
    main()
