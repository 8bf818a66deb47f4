"""What several scripts share: the places, their arguments, how they end, builds and the notes."""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARTICLES = sorted(ROOT.glob("Sources/*/*.docc/**/*.md"))
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("Benchmarks/*.md")), *sorted(ROOT.glob("Tests/*.md"))]
SOURCES = sorted(ROOT.glob("Sources/*/**/*.swift"))


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


def dearer(heading, found, allowance=1):
    """What of the figures found is more than the table of `Benchmarks/NOTES.md` that begins so says, which has two
    for each name."""
    table = (ROOT / "Benchmarks/NOTES.md").read_text().partition(f"| {heading} |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (.+?) \| ([\d.,]+) \| ([\d.,]+) \|", table, re.MULTILINE)
    limits = {name: [float(figure.replace(",", "")) for figure in figures] for name, *figures in rows}
    return [f"{name}: {now}, in the notes {limits.get(name)}" for name, now in found.items()
            if any(one > limit * allowance for one, limit in zip(now, limits.get(name, [-1])))]
