"""Makes the mutants that `.ci/mutate` tries: each beside the original line, chosen by its number."""
import pathlib
import re

LIBRARY = pathlib.Path("Sources/Delegation")
# What takes the place of what: both ways, and one way.
PAIRS = [
    (" < ", " <= "), (" > ", " >= "), (" == ", " != "), (" === ", " !== "), (" && ", " || "),
    (" + ", " - "), (" * ", " / "), (" += ", " -= "), ("true", "false"), ("max(", "min("),
    ("prefix(", "suffix("), (".expired", ".cancelled"),
    ("wrappingAdd(", "wrappingSubtract("), (".oldValue", ".newValue"),
]
OPERATORS = {**dict(PAIRS), **{other: one for one, other in PAIRS}, "..<": "..."}
OPERATOR = re.compile("|".join(
    (r"(?:\bSwift\.|\b)" if one.endswith("(") else r"\b" if one[0].isalpha() else "")
    + re.escape(one) + (r"\b" if one[-1].isalpha() else "") for one in OPERATORS)
    + r'|(?<![\w.$"])\d{1,3}(?![\w.])')

BLOCK = re.compile(r"\s*(\} else|if|guard|while|for|defer|do)\b")
MEMBER = re.compile(
    r"\s*((@\w+(\([^)]*\))?|private(\(set\))?|fileprivate|public|internal|static|mutating|"
    r"nonisolated(\(\w+\))?|final|consuming)\s+)*(var|func|init|deinit|subscript)\b")
# Lines that are no statement of their own, or must not be left out or repeated.
NO_STATEMENT = re.compile(
    r"(let|var|func|init|deinit|case|default|import|internal|private|public|@|#|struct|class|enum|extension|"
    r"protocol|typealias|static|fileprivate|final|actor|\}|\)|\]|fatalError|break|continue|else|where|if|"
    r"guard|switch|for|while|repeat|do|catch|defer|nonisolated|mutating|associatedtype|unsafe|isolated|"
    r"throw|\.|\?|:)|[\w ]+: |\(.*\) [^=]*\bin ")
DROPPED = re.compile(r"(_ = )?(try |await |self\.)*[\w.$?!\[\]()\\: ,&]*?(\(|[-+|&]?= |\{)")
MOVABLE = re.compile(r"(?!(let|var|return|case|if|guard|for|while|fatalError|defer)\b)"
                     r"(_ = )?(self\.)?[a-z]\w*[\w.?!\[\]()]*( [-+|]?= .+|\(.*\)|\?\..*\))$")


class Mutant:
    def __init__(self, number, path, line, kind, before, after):
        self.number, self.path, self.kind, self.original = number, path, kind, before
        self.before = " ".join(before.split())
        change = f"{self.before}  =>  {' '.join(after.split())}" if after else self.before
        self.text = f"{path.name}:{line}: {kind}: {change}"


# Reading Swift, as far as it takes.

def masked(text):
    """The text with what is in string literals and comments blanked out."""
    text = re.sub(r'"(?:[^"\\]|\\.)*"', lambda found: '"' + "_" * (len(found[0]) - 2) + '"', text)
    return re.sub(r"//.*$", lambda found: " " * len(found[0]), text)


def uncommented(text):
    return text[:len(masked(text).rstrip())]


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
    """Logical lines with the numbers of the physical ones they begin at, and whether they may be changed:
    conditions and calls in one, short blocks in three."""
    quoted, index = False, 0
    while index < len(lines):
        number, text = index + 1, lines[index]
        index += 1
        if quoted or text.count('"""') % 2:
            quoted ^= text.count('"""') % 2 == 1
            yield number, text, False
            continue
        if not masked(text).strip():
            continue
        begins = re.match(r"\s*(\} else )?(if|guard|while)\b", text)
        while index < len(lines) and '"""' not in lines[index]:
            cover = masked(text).rstrip()
            if not (depth(text) > 0 and not cover.endswith(("{", " in"))
                    or begins and not re.search(r"\{( .*\})?$", cover)
                    or re.match(r"\s*(&&|\|\||[+?:.]|==|<=|!=)\s?[^ ]", lines[index])
                    and not cover.endswith(("{", "}"))):
                break
            text = uncommented(text) + " " + lines[index].strip()
            index += 1
        # Accessors stand only whole, and only in their property.
        if re.match(r"\s*(get|set|_read|_modify)\b[^={]*\{", text):
            yield number, uncommented(text), False
        else:
            yield from unfold(number, uncommented(text))


def unfold(number, text):
    """A line, or its parts if it is a block or a case on one line."""
    indent = re.match(r"\s*", text)[0]
    *heads, last = split_at(text, ":")
    if re.match(r"\s*(case|default)\b", text) and heads and last.strip() and "?" not in masked(text):
        yield number, ":".join(heads) + ":", False
        yield from unfold(number, f"{indent}  {last.strip()}")
        return
    is_member = MEMBER.match(text)
    if text.endswith("}") and (BLOCK.match(text) or is_member):
        start = next(at for at in range(len(text) - 1, -1, -1) if depth(text[at:], "{", "}") == 0)
        head, inside = text[:start].rstrip(), text[start + 1:-1].strip()
        plain = inside and ";" not in inside and not re.search(r"\b(get|set|in)\b", masked(inside))
        is_else = re.match(r"\s*if\b.*\} else$", head)
        if is_else or start > 0 and plain and not (is_member and " = " in masked(head)):
            if is_else:
                yield from list(unfold(number, head.removesuffix(" else")))[:-1]
            yield number, f"{indent}}} else {{" if is_else else head + " {", not is_else
            yield from unfold(number, f"{indent}  {inside}")
            yield number, indent + "}", False
            return
    yield number, text, True


# Making mutants.

class Maker:
    """The mutants of some files. Lines come with the mutants that an error in them speaks of, and whether they are
    such a mutant themselves."""

    def __init__(self):
        self.mutants = []

    def add(self, *details):
        self.mutants.append(Mutant(len(self.mutants) + 1, *details))
        return self.mutants[-1]

    def choices(self, place, text, drops, negates):
        """The mutants of an expression or statement, each with what it says."""
        head = "return " if text.startswith("return ") else ""
        if drops:
            yield self.add(*place, "drop", text, ""), ""
        if negates:
            yield self.add(*place, "negate", text, ""), f"{head}!({text.removeprefix(head)})"
        cover = masked(text)
        for found in OPERATOR.finditer(cover):
            old = found[0].removeprefix("Swift.")
            new = OPERATORS.get(old)
            if negates and "=" in old and "= " in (new or "") and not re.search(r"&&|\|\|| [<>?]", cover):
                continue  # the same as its negation
            if new is None and ("available" in cover or "unsafe" in cover):
                continue
            new = new or str(int(old) + 1)
            variant = text[:found.start()] + new + text[found.end():]
            yield self.add(*place, "change", text, variant), variant

    def expression(self, place, text):
        """A condition or a value, each clause a choice between itself and its mutants; `None` if it is none."""
        condition = re.match(r"(\s*(?:\} else )?(?:if|while|guard) )(.*?)((?: else)? \{)$", text) \
            or re.match(r"(\s*for .*? where )(.*)( \{)$", text)
        value = re.match(
            r"(\s*(?:@\w+ )*(?:(?:private|fileprivate|public|static) )*(?:let|var) [^={]+ = )(.+)()$", text)
        if condition is None and (value is None or value[2].endswith(("{", "in", "(", ","))):
            return None
        buffer, inside, end = (condition or value).groups()
        out = []
        for position, clause in enumerate(split_at(inside, ",") if condition else [inside]):
            clause, separator = clause.strip(), ", " if position else ""
            is_plain = re.match(r"(let|var|case|_ =|unsafe)\b|#", clause) is None
            made = list(self.choices(place, clause, False, condition is not None)) if is_plain else []
            if not made:
                buffer += separator + clause
                continue
            out.append((f"{buffer}{separator}(", None))
            out += [(f"  isMutant({mutant.number}) ? ({variant}) :", mutant) for mutant, variant in made]
            buffer = f"  ({clause}))"
        return [*out, (buffer + end, None)] if out else None

    def statement(self, place, text, is_bool):
        """A statement as a choice between itself and its mutants; `None` if it is not a complete one."""
        body = text.strip()
        cover = masked(body)
        returns = body.startswith("return ")
        if (depth(body) or depth(body, "{", "}") or cover.endswith((",", "{", "in", ":"))
                or NO_STATEMENT.match(body) or " -> " in cover and not returns):
            return None
        drops = DROPPED.match(cover) and not returns and not is_bool
        out = []
        for mutant, variant in self.choices(place, body, drops, is_bool):
            out.append((f"{'} else ' if out else ''}if isMutant({mutant.number}) {{", None))
            out.append((f"  {variant}", mutant))
        return [*out, ("} else {", None), (f"  {body}", None), ("}", None)] if out else None

    def line(self, place, text, is_usable, is_bool):
        rendered = is_usable and (self.expression(place, text) or self.statement(place, text, is_bool))
        if not rendered:
            return [(text, [], False)]
        group = [mutant for _, mutant in rendered if mutant]
        return [(line, [mutant] if mutant else group, bool(mutant)) for line, mutant in rendered]

    def file(self, path, source):
        """The lines of a file with all its mutants."""
        result, lines = [], [*expand(source.splitlines()), (0, "", False)]
        kinds, index = [], 0  # whether the blocks around are of type Bool
        while index < len(lines) - 1:
            (number, text, is_usable), (following, other, may_move) = lines[index:index + 2]
            if is_usable and may_move and is_movable(text) and is_movable(other) and (
                    margin(text) == margin(other)):
                mutant = self.add(path, number, "swap", text.strip(), other)
                result += [(f"if isMutant({mutant.number}) {{", [mutant], False), (other, [mutant], True),
                           (text, [mutant], True), ("} else {", [mutant], False)]
                inner = [*self.line((path, number), text, True, kinds[-1:] == [True]),
                         *self.line((path, following), other, True, kinds[-1:] == [True])]
                result += [(line, group or [mutant], is_variant) for line, group, is_variant in inner]
                result.append(("}", [mutant], False))
                index += 2
                continue
            result += self.line((path, number), text, is_usable, kinds[-1:] == [True])
            cover = masked(text)
            for character in re.findall("[{}]", cover):
                if character == "{":
                    kinds.append(re.search(r"(: Bool|-> Bool) \{$", cover) is not None)
                else:
                    del kinds[-1:]
            index += 1
        return result


def is_movable(text):
    """Whether a line is a statement that may stand elsewhere."""
    return not depth(text) and not depth(text, "{", "}") and MOVABLE.match(masked(text).strip())


def margin(text):
    return len(text) - len(text.lstrip())


def neutral(line, mutant):
    """A mutant's line without the mutant; the structure around it stays."""
    if re.match(r"\s*isMutant\(\d+\) \? .* :$", line):
        return ""
    return "fatalError()" if mutant.kind == "swap" else mutant.original


SWITCH = """
#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

private let chosen = getenv("DELEGATION_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

/// A file with a byte for each mutant, if it is to be noted which are reached.
private nonisolated(unsafe) let reached: UnsafeMutablePointer<UInt8>? = {
  guard let path = getenv("DELEGATION_MUTANTS_REACHED") else { return nil }
  let file = open(path, O_RDWR)
  let size = Int(lseek(file, 0, SEEK_END))
  return mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)?.assumingMemoryBound(to: UInt8.self)
}()

@usableFromInline
func isMutant(_ number: Int) -> Bool {
  reached?[number] = 1
  return number == chosen
}
"""
