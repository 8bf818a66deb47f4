"""Makes the mutants that `.ci/mutate` tries: each beside the original line, chosen by its number."""
import collections
import pathlib
import re

LIBRARY = pathlib.Path("Sources/Delegation")
# What takes the place of what: both ways, and one way.
PAIRS = [
    (" < ", " <= "), (" > ", " >= "), (" == ", " != "), (" === ", " !== "), (" && ", " || "), (" + ", " - "),
    (" * ", " / "), (" += ", " -= "), ("true", "false"), ("max(", "min("), ("prefix(", "suffix("),
    (".expired", ".cancelled"), ("wrappingAdd(", "wrappingSubtract("), (".oldValue", ".newValue"),
]
OPERATORS = {**dict(PAIRS), **{other: one for one, other in PAIRS}, "..<": "..."}
OPERATOR = re.compile("|".join(
    (r"(?:\bSwift\.|\b)" if one.endswith("(") else r"\b" if one[0].isalpha() else "")
    + re.escape(one) + (r"\b" if one[-1].isalpha() else "") for one in OPERATORS)
    + r'|(?<![\w.$"])\d{1,3}(?![\w.])')

BLOCK = re.compile(r"\s*(\} else|if|guard|while|for|defer|do)\b")
MEMBER = re.compile(r"\s*((?!if|guard|while|for|else)@?[a-z]\w*(\([^)]*\))?\s+)*(var|func|init|deinit|subscript)\b")
# Lines that are no statement of their own, or must not be left out or repeated.
NO_STATEMENT = re.compile(
    r"(let|var|func|init|deinit|case|default|private|public|protocol|typealias|static|nonisolated|mutating|fatalError|"
    r"throw|where|if|guard|switch|for|while|repeat|[@#}\])(.?:])|[\w ]+: |\(.*\) [^=]*\bin ")
DROPPED = re.compile(r"(_ = )?(try |await |self\.)*[\w.$?!\[\]()\\: ,&]*?(\(|[-+|&]?= |\{)")
CONDITION = re.compile(r"(\s*(?:\} else )?(?:if|while|guard) |\s*for .*? where )(.*?)((?: else)? \{)$")
VALUE = re.compile(r"(\s*(?:@?[a-z]\w* )*(?:let|var) [^={]+ = )(.+)()$")

Mutant = collections.namedtuple("Mutant", "number path kind text")
# A line with mutants: those that an error in it speaks of, and what stands there without its own, if it is one's.
Line = collections.namedtuple("Line", "text mutants original", defaults=[(), None])


# Reading Swift, as far as it takes.

def masked(text):
    """The text with what is in string literals and comments blanked out."""
    text = re.sub(r'"(?:[^"\\]|\\.)*"', lambda found: '"' + "_" * (len(found[0]) - 2) + '"', text)
    return re.sub(r"//.*$", lambda found: " " * len(found[0]), text)


def depth(text, opening="([", closing=")]"):
    text = masked(text)
    return sum(map(text.count, opening)) - sum(map(text.count, closing))


def split_at(text, separator):
    """Splits at a separator outside of brackets."""
    parts, level = [""], 0
    for index, character in enumerate(masked(text)):
        level += (character in "([{") - (character in ")]}")
        if character == separator and level == 0 and not re.search(r"\w<[\w.]*$", parts[-1]):
            parts.append("")
        else:
            parts[-1] += text[index]
    return parts


def expand(lines):
    """Logical lines, and whether they may be changed: conditions and calls in one, short blocks in three."""
    is_quoted, text = False, ""
    for line, following in zip(lines, lines[1:] + [""]):
        if is_quoted or '"""' in line:
            is_quoted ^= line.count('"""') % 2
            yield text + line, False
            text = ""
            continue
        line = line[:len(masked(line).rstrip())]
        text = f"{text} {line.strip()}".rstrip() if text else line
        cover = masked(text)
        goes_on = (
            depth(text) > 0
            or re.match(r"\s*(\} else )?(if|guard|while)\b", text) and not re.search(r"\{( .*\})?$", cover)
            or re.match(r"\s*(&&|\|\||[+?:.]|==|<=|!=)\s?[^ ]", following) and not cover.endswith(("{", "}")))
        if goes_on and cover and '"""' not in following:
            continue
        # Accessors stand only whole, and only in their property.
        if re.match(r"\s*(get|set|_read|_modify)\b[^={]*\{", text):
            yield text, False
        elif text:
            yield from unfold(text)
        text = ""


def unfold(text):
    """A line, or its parts if it is a block or a case on one line."""
    indent = re.match(r"\s*", text)[0]
    *heads, last = split_at(text, ":")
    if re.match(r"\s*(case|default)\b", text) and heads and last.strip() and "?" not in masked(text):
        yield ":".join(heads) + ":", False
        yield from unfold(f"{indent}  {last.strip()}")
        return
    is_member = MEMBER.match(text)
    if text.endswith("}") and (BLOCK.match(text) or is_member):
        start = next(at for at in range(len(text) - 1, -1, -1) if depth(text[at:], "{", "}") == 0)
        head, inside = text[:start].rstrip(), text[start + 1:-1].strip()
        is_else = re.match(r"\s*if\b.*\} else$", head)
        if is_else or inside and not re.search(r"\b(get|set|in)\b", masked(inside)) and not (
                is_member and " = " in masked(head)):
            if is_else:
                yield from list(unfold(head.removesuffix(" else")))[:-1]
            yield f"{indent}}} else {{" if is_else else head + " {", not is_else
            yield from unfold(f"{indent}  {inside}")
            yield indent + "}", False
            return
    yield text, True


# Making mutants.

made = []


def choices(path, name, text, drops, negates):
    """Makes the mutants of an expression or statement; yields each with what it says."""
    cover, head = masked(text), "return " if text.startswith("return ") else ""
    variants = [("drop", "")] * drops + [("negate", f"{head}!({text.removeprefix(head)})")] * negates
    for found in OPERATOR.finditer(cover):
        old = found[0].removeprefix("Swift.")
        new = OPERATORS.get(old) or str(int(old) + 1)
        # The others are the same as the negation.
        if not negates or "=" not in old or "= " not in new or re.search(r"&&|\|\|| [<>?]", cover):
            variants.append(("change", text[:found.start()] + new + text[found.end():]))
    for kind, variant in variants:
        change = f"{text}  =>  {variant.strip()}" if kind == "change" else text
        made.append(Mutant(len(made) + 1, path, kind, f"{path.name}: {name}: {kind}: {change}"))
        yield made[-1], variant


def expression(place, text):
    """The lines of a condition or a value, each clause a choice between itself and its mutants."""
    condition, value = CONDITION.match(text), VALUE.match(text)
    # What follows a loop without an end need not return.
    if not (condition or value and not value[2].endswith("{")) or text.strip() == "while true {":
        return []
    buffer, inside, end = (condition or value).groups()
    out, group = [], []
    for position, clause in enumerate(split_at(inside, ",") if condition else [inside]):
        clause, separator = clause.strip(), ", " if position else ""
        is_plain = re.match(r"(let|var|case|_ =)\b|#", clause) is None
        own = list(choices(*place, clause, False, condition is not None)) if is_plain else []
        if not own:
            buffer += separator + clause
            continue
        out.append(Line(f"{buffer}{separator}(", group))
        out += [Line(f"  isMutant({mutant.number}) ? ({variant}) :", [mutant], "") for mutant, variant in own]
        group += [mutant for mutant, _ in own]
        buffer = f"  ({clause}))"
    return [*out, Line(buffer + end, group)] if out else []


def statement(place, text, is_bool):
    """The lines of a complete statement as a choice between itself and its mutants."""
    body = text.strip()
    cover = masked(body)
    if depth(body) or depth(body, "{", "}") or cover.endswith((",", "{", "in", ":")) or NO_STATEMENT.match(body):
        return []
    drops = DROPPED.match(cover) is not None and not body.startswith("return ") and not is_bool
    own = list(choices(*place, body, drops, is_bool))
    group, out = [mutant for mutant, _ in own], []
    for mutant, variant in own:
        out.append(Line(f"{'} else ' if out else ''}if isMutant({mutant.number}) {{", group))
        out.append(Line(variant, [mutant], body))
    return [*out, Line("} else {", group), Line(body, group), Line("}", group)] if out else []


def file(path, source):
    """The lines of a file with all its mutants."""
    result, name, kinds = [], "", []  # whether the blocks around are of type Bool
    for text, is_usable in expand(source.splitlines()):
        if member := MEMBER.match(text):
            name = re.match(r"\w*", text[member.end():].lstrip())[0] or member[3]
        place, of_bool = (path, name), kinds[-1:] == [True]
        result += is_usable and (expression(place, text) or statement(place, text, of_bool)) or [Line(text)]
        is_bool = text.endswith((": Bool {", "-> Bool {"))
        for brace in re.findall("[{}]", masked(text)):
            kinds = [*kinds, is_bool] if brace == "{" else kinds[:-1]
    return result


def planted(root):
    """The faults of `.ci/faults.txt` as mutants: the lines of the files that have them, and which have no place."""
    texts, misplaced = {}, []
    for line in (root / ".ci/faults.txt").read_text().splitlines():
        if change := re.fullmatch(r"  (\S+) `(.*)` => `(.*)`", line):
            name, old, new = (part.replace(r"\n", "\n") for part in change.groups())
            path = LIBRARY / name
            text = texts.get(path) or ((root / path).read_text() if (root / path).exists() else "")
            if text.count(old) != 1:
                misplaced.append(f"{made[-1].text}: {name} has its place {text.count(old)} times, not once")
            texts[path] = text.replace(old, new.replace("FAULT", f"isMutant({len(made)})"))
            made[-1] = made[-1]._replace(path=path)
        elif not line.startswith("#"):
            made.append(Mutant(len(made) + 1, None, "fault", f"guarantee {line}"))
    return {path: [Line(text)] for path, text in texts.items()}, misplaced


SWITCH = """
internal import Glibc

private let chosen = getenv("DELEGATION_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

/// A byte for each mutant, in a file if it is to be noted which are reached.
private nonisolated(unsafe) let reached = mmap(
  nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED,
  open(getenv("DELEGATION_MUTANTS_REACHED").map { String(cString: $0) } ?? "/dev/zero", O_RDWR), 0
)!.assumingMemoryBound(to: UInt8.self)

@usableFromInline
func isMutant(_ number: Int) -> Bool {
  reached[number] = 1
  return number == chosen
}
"""
