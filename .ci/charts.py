"""Charts of what a hub costs beside what people use in its place, from the figures that `compare` records.

Part of `.ci/draw`. Each chart has both axes logarithmic and a line for each contestant: a whole call among
1, 3, 10 and 100 subscribers, or what is allocated for them.
"""
import collections
import itertools
import json
import math
from xml.sax.saxutils import escape

SIZES = [1, 3, 10, 100]
FONT = "-apple-system, 'Helvetica Neue', Helvetica, Arial, sans-serif"
LABEL = "What a hub costs beside what people use in its place"

# What `compare` calls a contestant: its name in a chart, whether it calls one after another, and its colours.
Contestant = collections.namedtuple("Contestant", "name in_turn light dark")
CONTESTANTS = {
    "hub": Contestant("hub", False, "#1f62cc", "#6aa5ff"),
    "task group": Contestant("task group", False, "#c45f00", "#f29a45"),
    "task per delivery": Contestant("a task per delivery", False, "#c45f00", "#f29a45"),
    "queue per delegate": Contestant("a queue per delegate", False, "#1d8a52", "#57c98a"),
    "async stream": Contestant("AsyncStream", False, "#8a4fbf", "#c193f2"),
    "async message": Contestant("AsyncMessage", False, "#b5366f", "#f07fae"),
    "notification center": Contestant("NotificationCenter", True, "#0b7f92", "#4cc4d6"),
    "passthrough subject": Contestant("PassthroughSubject", True, "#8b6b1f", "#d4b25e"),
    "actor loop": Contestant("loop in an actor", True, "#6e6e73", "#b8b8bd"),
    "weak loop": Contestant("plain loop", True, "#98989d", "#8e8e93"),
}
# For each appearance, by what its files end with, the colours; of bars their area, edge and text.
THEMES = {
    "": {
        "back": "#ffffff", "text": "#1d1d1f", "quiet": "#6e6e73", "line": "#d2d2d7",
        "run": ("#d6e6ff", "#2f6fd0", "#0b3a80"), "wait": ("none", "#8e8e93", "#6e6e73"),
        "stop": ("#ffe0dc", "#c8372b", "#8a1f16"), "note": ("#fff3d1", "#c99a18", "#6b5000"),
    } | {who: contestant.light for who, contestant in CONTESTANTS.items()},
    "~dark": {
        "back": "#0a0c10", "text": "#f5f5f7", "quiet": "#a1a1a6", "line": "#424245",
        "run": ("#173a6b", "#5b9bff", "#d6e6ff"), "wait": ("none", "#8e8e93", "#a1a1a6"),
        "stop": ("#5c1d17", "#ff7568", "#ffd9d4"), "note": ("#4a3a0c", "#e0b43c", "#ffeebf"),
    } | {who: contestant.dark for who, contestant in CONTESTANTS.items()},
}

# The rows that a chart is made of, whether their figures count for all subscribers or for one, who is shown.
Chart = collections.namedtuple("Chart", "name title row whole who")
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
SHEET = CHARTS[:4]


def tag(name, content=None, **attributes):
    """An element; attributes that are `None` are left out."""
    words = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items()
                    if value is not None)
    return f"<{name}{words}/>" if content is None else f"<{name}{words}>{escape(content)}</{name}>"


class Figures:
    """What `compare` has recorded."""

    def __init__(self, path):
        record = json.loads(path.read_text())
        self.conditions, self.medians, self.scales = record["conditions"], {}, {}
        for line in record["lines"]:
            self.scales[line["row"]] = line["scale"]
            self.medians[line["row"], line["who"]] = line["figure"][1]
            if "against" in line:
                self.medians[line["row"], line["against"]] = line["itsFigure"][1]

    def series(self, chart):
        """For each contestant of a chart its figures, one for each size."""
        return {who: [self.medians[chart.row.format(size), who] * (1 if chart.whole else size)
                      for size in SIZES] for who in chart.who}

    def scale(self, chart):
        return self.scales[chart.row.format(SIZES[0])]


def text_of(figure, scale):
    """A figure in the unit that suits it."""
    names = ["B", "kB", "MB"] if scale == "bytes" else ["ns", "µs", "ms"]
    power = next((power for power in (0, 1) if figure < 1000 ** power * 999.5), 2)
    value = figure / 1000 ** power
    digits = 0 if value >= 99.95 or names[power] == "B" else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {names[power]}"


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
    low, peak = math.log10(min(values)) - 0.12, math.log10(max(values)) + 0.12
    near, far, quiet = left + 52, left + wide - 146, theme["quiet"]
    ceiling, floor = top + 40, top + high - 40

    def x(size):
        return round(near + 26 + (far - near - 38) * math.log10(size) / 2, 1)

    def y(value):
        share = (math.log10(value) - low) / (peak - low)
        return round(floor - 20 - (floor - 20 - ceiling) * share, 1)

    out = [tag("text", chart.title, x=left + 8, y=top + 20, font_size=15, font_weight=600,
               fill=theme["text"])]
    for exponent in range(math.ceil(low), math.floor(peak) + 1):
        place = y(10 ** exponent)
        out.append(tag("line", x1=near, y1=place, x2=far, y2=place, stroke=theme["line"]))
        tick = text_of(10 ** exponent, scale).replace(".00 ", " ").replace(".0 ", " ")
        out.append(tag("text", tick, x=near - 6, y=place + 4, text_anchor="end", font_size=11, fill=quiet))
    for size in SIZES:
        out.append(tag("text", str(size), x=x(size), y=floor + 18, text_anchor="middle", font_size=11,
                       fill=quiet))
    out.append(tag("text", "subscribers", x=far + 8, y=floor + 18, font_size=11, fill=quiet))
    places = spread({who: y(line[-1]) for who, line in series.items()}, 15, ceiling, floor)
    for who, line in reversed(series.items()):
        contestant, is_hub, ink = CONTESTANTS[who], who == "hub", theme[who]
        points = " ".join(f"{x(size)},{y(value)}" for size, value in zip(SIZES, line))
        out.append(tag("polyline", points=points, fill="none", stroke=ink, stroke_width=3 if is_hub else 1.7,
                       stroke_linejoin="round", stroke_dasharray="5 4" if contestant.in_turn else None))
        for size, value in zip(SIZES, line):
            out.append(tag("circle", cx=x(size), cy=y(value), r=4 if is_hub else 2.5, fill=ink))
        path = f"M{x(100) + 5} {y(line[-1])} L{far + 4} {round(places[who], 1)}"
        out.append(tag("path", d=path, stroke=ink, stroke_opacity=0.5, fill="none"))
        out.append(tag("text", contestant.name, x=far + 8, y=round(places[who] + 4, 1), font_size=12,
                       font_weight=600 if is_hub else None, fill=ink))
    # The hub's own figures, on the side where they are farther from everybody else's points.
    for index, size in enumerate(SIZES):
        own = y(series["hub"][index])
        others = [y(line[index]) for who, line in series.items() if who != "hub"]
        room = {side: min((abs(own + side - other) for other in others), default=99)
                for side in (-12, 19)}
        side = max(room, key=lambda side: (min(room[side], 14), side < 0))
        out.append(tag("text", text_of(series["hub"][index], scale), x=x(size), y=own + side,
                       text_anchor="middle", font_size=11, font_weight=600, fill=theme["hub"],
                       stroke=theme["back"], stroke_width=3, paint_order="stroke"))
    return out


def sheet(wide, high, label, elements, **attributes):
    whole = tag("svg", "", xmlns="http://www.w3.org/2000/svg", width=wide, height=high,
                viewBox=f"0 0 {wide} {high}", role="img", aria_label=escape(label), font_family=FONT,
                **attributes)
    return "\n".join([whole.removesuffix("</svg>"), *elements, "</svg>\n"])


def footnote(figures, charts, theme, y):
    """What has to be known in order to read the charts."""
    rounds, cores = figures.conditions["rounds"], figures.conditions["cores"]
    scales = {figures.scale(chart) for chart in charts}
    lines = []
    if any(CONTESTANTS[who].in_turn for chart in charts for who in chart.who):
        lines.append("Dashed: handlers are called one after another, "
                     "so one that waits holds up all behind it.")
    if "ns" in scales:
        lines.append(f"Times are medians of {rounds} interleaved rounds on {cores} cores.")
    if "bytes" in scales:
        lines.append("Memory is what is allocated, the subscribers themselves not included.")
    lines[-1] += " Both axes are logarithmic."
    # As `compare` itself says.
    if (load := figures.conditions["load"]) > cores / 2:
        lines[-1] += f" The machine was not quiet (load {load:.0f})."
    return [tag("text", line, x=8, y=y + 17 * i, font_size=12, fill=theme["quiet"])
            for i, line in enumerate(lines)]


def draw(record, resources, benchmarks):
    """The files that the figures make: a chart each for the catalogue, all on one sheet for README."""
    figures, files = Figures(record), {}
    for suffix, theme in THEMES.items():
        for chart in CHARTS:
            elements = panel(chart, figures, theme, 0, 0, 640, 300) + footnote(figures, [chart], theme, 312)
            files[resources / f"{chart.name}{suffix}.svg"] = sheet(640, 340, chart.title, elements)
        panels = [panel(chart, figures, theme, 470 * (index % 2), 285 * (index // 2), 460, 275)
                  for index, chart in enumerate(SHEET)]
        elements = [*itertools.chain(*panels), *footnote(figures, SHEET, theme, 582)]
        files[benchmarks / f"costs{suffix.replace('~', '-')}.svg"] = sheet(930, 624, LABEL, elements)
    return files
