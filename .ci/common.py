"""What several scripts share: the places, their arguments, how they end, builds and the notes."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARTICLES = sorted(ROOT.glob("Sources/*/*.docc/**/*.md"))
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("Benchmarks/*.md")), *sorted(ROOT.glob("Tests/*.md"))]
SOURCES = sorted(ROOT.glob("Sources/*/**/*.swift"))
VALGRIND = "valgrind --quiet --tool=callgrind --combine-dumps=yes --compress-strings=no".split()
CALLED = ["malloc", "swift_task_switch"]


def arguments(usage, **others):
    """The options that the usage names, with a value if a word in capitals follows, and others by how many they are."""
    parser = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawTextHelpFormatter)
    for name, value in {*re.findall(r"(--\w+)( [A-Z]+\b)?", usage)}:
        parser.add_argument(name, **{"default": ""} if value else {"action": "store_true"})
    for name, number in others.items():
        parser.add_argument(name, nargs=number)
    return parser.parse_args()


def finish(summary, problems):
    """Ends a check: 1 if there are problems."""
    print(f"{summary}, {len(problems)} problems", *problems, sep="\n")
    sys.exit(1 if problems else 0)


def benchmark(product):
    """Builds a program of the benchmarks for release, and says where it is."""
    command = ["swift", "build", "-c", "release", "--package-path", ROOT / "Benchmarks"]
    subprocess.run([*command, "--product", product], check=True, stdout=sys.stderr)
    path = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True)
    return pathlib.Path(path.stdout.strip()) / product


def counted(*words):
    """Has Valgrind count what the benchmarks' program `counted` marks, on one core, where the pool has one thread: yields
    each name with its instructions, allocations and switches between executors."""
    program = benchmark("counted")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        subprocess.run([*VALGRIND, f"--callgrind-out-file={out}", program, *words], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"SWIFT_DETERMINISTIC_HASHING": "1"},
                       preexec_fn=lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))}))
        # Those without a name are of what lies between what is counted.
        for part in re.findall(r"^desc: Trigger: Client Request: (\S.*\n(?s:.*?)^totals: \d+)", out.read_text(), re.MULTILINE):
            calls = [re.findall(rf"^cfn={function}(?:'\d+)?\ncalls=(\d+)", part, re.MULTILINE) for function in CALLED]
            yield part.partition("\n")[0], [int(part.rpartition(" ")[2]), *(sum(map(int, numbers)) for numbers in calls)]


def dearer(table, known, allowances):
    """The rows of a table in Markdown with a figure that is more than another text's row with that name allows: a
    factor for each column."""
    def rows(text):
        cells = [line.strip("|").split("|") for line in text.splitlines()]
        return {name: [[float(one.replace(",", "")) for one in re.findall(r"[\d.,]+", cell)] for cell in others]
                for name, *others in cells if others and re.search(r"\d", others[-1])}
    limits = rows(known)
    return [f"{name}: {now}, not {limits.get(name)}" for name, now in rows(table).items()
            if any(len(column) != len(limit) or any(one > most * allowance for one, most in zip(column, limit))
                   for column, limit, allowance in zip(now, limits.get(name, [[]] * len(now)), allowances))]
