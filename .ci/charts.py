"""Charts of what a hub costs beside what people use in its place, from the figures that `compare` records.

Part of `.ci/draw`. Each chart has both axes logarithmic and a line for each contestant: a whole call among 1, 3,
10 and 100 subscribers, or what is allocated for them.
"""
import json
import math
from xml.sax.saxutils import escape

SIZES = [1, 3, 10, 100]
FONT = "-apple-system, 'Helvetica Neue', Helvetica, Arial, sans-serif"

# What `compare` calls a contestant: its name in a chart, and whether it calls one after another.
NAMES = {
    "hub": ("hub", False),
    "task group": ("task group", False),
    "task per delivery": ("a task per delivery", False),
    "queue per delegate": ("a queue per delegate", False),
    "async stream": ("AsyncStream", False),
    "async message": ("AsyncMessage", False),
    "notification center": ("NotificationCenter", True),
    "passthrough subject": ("PassthroughSubject", True),
    "actor loop": ("loop in an actor", True),
    "weak loop": ("plain loop", True),
}
THEMES = {
    "": {
        "back": "#ffffff", "text": "#1d1d1f", "quiet": "#6e6e73", "line": "#d2d2d7", "hub": "#1f62cc",
        "task group": "#c45f00", "task per delivery": "#c45f00", "queue per delegate": "#1d8a52",
        "async stream": "#8a4fbf", "async message": "#b5366f", "notification center": "#0b7f92",
        "passthrough subject": "#8b6b1f", "actor loop": "#6e6e73", "weak loop": "#98989d",
    },
    "dark": {
        "back": "#0a0c10", "text": "#f5f5f7", "quiet": "#a1a1a6", "line": "#424245", "hub": "#6aa5ff",
        "task group": "#f29a45", "task per delivery": "#f29a45", "queue per delegate": "#57c98a",
        "async stream": "#c193f2", "async message": "#f07fae", "notification center": "#4cc4d6",
        "passthrough subject": "#d4b25e", "actor loop": "#b8b8bd", "weak loop": "#8e8e93",
    },
}


class Chart:
    """One chart: the rows it is made of, whose figures count for one subscriber or for all, and who is shown."""

    def __init__(self, name, title, row, whole, who):
        self.name, self.title, self.row, self.whole, self.who = name, title, row, whole, who


CHARTS = [
    Chart("cost-vote", "A vote, until its outcome", "vote.class.{}", False,
          ["hub", "task group", "actor loop", "weak loop"]),
    Chart("cost-notify", "A notification, until all have handled it", "single.{}", False,
          ["hub", "task per delivery", "queue per delegate", "async stream", "notification center",
           "actor loop"]),
    Chart("cost-post", "A notification, until its poster goes on", "post.return.{}", True,
          ["hub", "queue per delegate", "async stream", "async message", "notification center",
           "passthrough subject"]),
    Chart("cost-memory", "Memory, with all subscriptions", "memory.hub.{}", True,
          ["hub", "queue per delegate", "async stream", "async message", "notification center",
           "passthrough subject"]),
    Chart("cost-waiting", "Memory, of a notification that waits for all", "memory.waiting.{}", True,
          ["hub", "task per delivery", "queue per delegate", "async stream"]),
]
# Those on README's sheet.
SHEET = ["cost-vote", "cost-notify", "cost-post", "cost-memory"]


class Figures:
    """What `compare` has recorded."""

    def __init__(self, path):
        record = json.loads(path.read_text())
        self.conditions, self.medians, self.scales, self.ratios = record["conditions"], {}, {}, {}
        for line in record["lines"]:
            self.scales[line["row"]] = line["scale"]
            self.medians[line["row"], line["who"]] = line["figure"][1]
            if "against" in line:
                self.medians[line["row"], line["against"]] = line["itsFigure"][1]
                self.ratios[line["row"], line["who"], line["against"]] = line["ratio"][1]

    def series(self, chart):
        """For each contestant of a chart its figures, one for each size."""
        return {
            who: [self.medians[chart.row.format(size), who] * (1 if chart.whole else size)
                  for size in SIZES]
            for who in chart.who
        }

    def scale(self, chart):
        return self.scales[chart.row.format(SIZES[0])]


def text_of(figure, scale):
    """A figure in the unit that suits it."""
    units = [(1, "B"), (1e3, "kB"), (1e6, "MB")] if scale == "bytes" else [
        (1, "ns"), (1e3, "µs"), (1e6, "ms")]
    size, unit = next(((s, u) for s, u in units if figure < s * 999.5), units[-1])
    value = figure / size
    digits = 0 if value >= 99.95 or unit == "B" else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}"


def spread(wanted, gap, low, high):
    """Places near those that are wanted, in the same order, at least a gap apart."""
    order = sorted(wanted, key=wanted.get)
    places = [max(low, min(high, wanted[name])) for name in order]
    for _ in range(200):
        for i in range(len(places) - 1):
            if (lack := gap - (places[i + 1] - places[i])) > 0:
                places[i] -= lack / 2
                places[i + 1] += lack / 2
        places = [max(low + i * gap, min(high - (len(places) - 1 - i) * gap, place))
                  for i, place in enumerate(places)]
    return dict(zip(order, places))


def panel(chart, figures, theme, left, top, wide, high):
    """The elements of one chart in a frame."""
    series, scale = figures.series(chart), figures.scale(chart)
    values = [value for line in series.values() for value in line]
    low = math.log10(min(values)) - 0.12
    top_value = math.log10(max(values)) + 0.12
    near, far = left + 52, left + wide - 146
    ceiling, floor = top + 40, top + high - 40
    x = lambda size: round(near + 26 + (far - near - 38) * math.log10(size) / 2, 1)
    y = lambda value: round(
        floor - 20 - (floor - 20 - ceiling) * (math.log10(value) - low) / (top_value - low), 1)
    out = [f'<text x="{left + 8}" y="{top + 20}" font-size="15" font-weight="600" '
           f'fill="{theme["text"]}">{escape(chart.title)}</text>']
    for exponent in range(math.ceil(low), math.floor(top_value) + 1):
        place = y(10 ** exponent)
        out.append(f'<line x1="{near}" y1="{place}" x2="{far}" y2="{place}" stroke="{theme["line"]}"/>')
        tick = text_of(10 ** exponent, scale).replace(".00 ", " ").replace(".0 ", " ")
        out.append(f'<text x="{near - 6}" y="{place + 4}" text-anchor="end" font-size="11" '
                   f'fill="{theme["quiet"]}">{tick}</text>')
    for size in SIZES:
        out.append(f'<text x="{x(size)}" y="{floor + 18}" text-anchor="middle" font-size="11" '
                   f'fill="{theme["quiet"]}">{size}</text>')
    out.append(f'<text x="{far + 8}" y="{floor + 18}" font-size="11" '
               f'fill="{theme["quiet"]}">subscribers</text>')
    places = spread({who: y(line[-1]) for who, line in series.items()}, 15, ceiling, floor)
    for who, line in reversed(series.items()):
        name, in_turn = NAMES[who]
        points = " ".join(f"{x(size)},{y(value)}" for size, value in zip(SIZES, line))
        weight, dash = ("3", "") if who == "hub" else ("1.7", ' stroke-dasharray="5 4"' if in_turn else "")
        out.append(f'<polyline points="{points}" fill="none" stroke="{theme[who]}" '
                   f'stroke-width="{weight}" stroke-linejoin="round"{dash}/>')
        for size, value in zip(SIZES, line):
            out.append(f'<circle cx="{x(size)}" cy="{y(value)}" r="{4 if who == "hub" else 2.5}" '
                       f'fill="{theme[who]}"/>')
        bold = ' font-weight="600"' if who == "hub" else ""
        out.append(f'<path d="M{x(100) + 5} {y(line[-1])} L{far + 4} {round(places[who], 1)}" '
                   f'stroke="{theme[who]}" stroke-opacity="0.5" fill="none"/>')
        out.append(f'<text x="{far + 8}" y="{round(places[who] + 4, 1)}" font-size="12"{bold} '
                   f'fill="{theme[who]}">{escape(name)}</text>')
    # The hub's own figures, on the side where they are farther from everybody else's points.
    for index, size in enumerate(SIZES):
        own = y(series["hub"][index])
        others = [y(line[index]) for who, line in series.items() if who != "hub"]
        room = {side: min((abs(own + side - other) for other in others), default=99)
                for side in (-12, 19)}
        side = max(room, key=lambda side: (min(room[side], 14), side < 0))
        out.append(f'<text x="{x(size)}" y="{own + side}" text-anchor="middle" font-size="11" '
                   f'font-weight="600" fill="{theme["hub"]}" stroke="{theme["back"]}" stroke-width="3" '
                   f'paint-order="stroke">{text_of(series["hub"][index], scale)}</text>')
    return out


def sheet(wide, high, label, elements):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
        f'viewBox="0 0 {wide} {high}" role="img" aria-label="{escape(label)}" font-family="{FONT}">',
        *elements, "</svg>\n"])


def footnote(figures, charts, theme, y):
    """What has to be known in order to read the charts."""
    rounds, cores = figures.conditions["rounds"], figures.conditions["cores"]
    scales = {figures.scale(chart) for chart in charts}
    lines = []
    if any(NAMES[who][1] for chart in charts for who in chart.who):
        lines.append("Dashed: handlers are called one after another, so one that waits holds up all behind it.")
    if "ns" in scales:
        lines.append(f"Times are medians of {rounds} interleaved rounds on {cores} cores.")
    if "bytes" in scales:
        lines.append("Memory is what is allocated, the subscribers themselves not included.")
    lines[-1] += " Both axes are logarithmic."
    # As `compare` itself says.
    if (load := figures.conditions["load"]) > cores / 2:
        lines[-1] += f" The machine was not quiet (load {load:.0f})."
    return [f'<text x="8" y="{y + 17 * i}" font-size="12" fill="{theme["quiet"]}">{line}</text>'
            for i, line in enumerate(lines)]


def draw(record, resources, benchmarks):
    """The files that the figures make, by their paths: a chart each for the catalogue, all on one sheet for README."""
    figures, files = Figures(record), {}
    for suffix, theme in THEMES.items():
        for chart in CHARTS:
            elements = panel(chart, figures, theme, 0, 0, 640, 300)
            elements += footnote(figures, [chart], theme, 312)
            name = chart.name + ("~dark" if suffix else "")
            files[resources / f"{name}.svg"] = sheet(640, 340, chart.title, elements)
        elements, charts = [], [chart for chart in CHARTS if chart.name in SHEET]
        for index, chart in enumerate(charts):
            elements += panel(chart, figures, theme, 470 * (index % 2), 285 * (index // 2), 460, 275)
        elements += footnote(figures, charts, theme, 582)
        name = "costs-dark" if suffix else "costs"
        files[benchmarks / f"{name}.svg"] = sheet(
            930, 624, "What a hub costs beside what people use in its place", elements)
    return files


def table(record):
    """The sheet's figures as Markdown, and in how many times the hub's each contestant's are."""
    figures = Figures(record)
    yield "| | " + " | ".join(["1 subscriber", *map(str, SIZES[1:])]) + " |"
    yield "| --- |" + " ---: |" * len(SIZES)
    for chart in (chart for chart in CHARTS if chart.name in SHEET):
        series, scale = figures.series(chart), figures.scale(chart)
        yield f"| **{chart.title}** |" + " |" * len(SIZES)
        for who, line in series.items():
            cells = []
            for size, own, value in zip(SIZES, series["hub"], line):
                ratio = figures.ratios.get((chart.row.format(size), "hub", who), own / value)
                times = 1 / ratio
                digits = ".2g" if times < 1 else ".1f" if times < 9.95 else ".0f"
                note = "" if who == "hub" else f" ({times:{digits}} x)"
                cells.append(text_of(value, scale) + note)
            yield f"| {NAMES[who][0]} | " + " | ".join(cells) + " |"
