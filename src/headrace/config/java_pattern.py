"""Java's regular expressions in Python: what Kafka users write in `topic.creation.*.include`, whitelists and the
like.

`java_regex` reads a pattern by the rules of `java.util.regex.Pattern` (JDK 17) and gives the equivalent `re.Pattern`:
nested classes and `&&`, flags from the middle on, possessive quantifiers, `\\Q…\\E`, `\\p{…}` and all. Subjects are
names of topics, so `\\w`, `\\p{L}` and the other named sets cover ASCII only. Errors carry Java's sentence and
position. Java has look-behinds of variable width, `\\X`, `\\G` and `\\b{g}`; Python does not: such a pattern is a
PythonRegexError.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from headrace.config.java_pattern_sets import BLANKS, DOT, LINE_BREAK, NUMERIC_ESCAPES, SETS, named_set
from headrace.config.whole_number import whole_number

_FLAGS = "idmsuxU"
_ASSERTIONS = {"A": "\\A", "b": "\\b", "B": "\\B", "z": "\\Z", "Z": "(?=\\n?\\Z)"}
_LITERAL_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_COUNT = re.compile(r"\{(\d+)(,(\d*))?")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_MAX_COUNT = 2**31 - 1


class JavaRegexError(ValueError):
    """A pattern that Java refuses; `str()` is the message of Java's PatternSyntaxException (several lines)."""

    def __init__(self, why: str, pattern: str, index: int) -> None:
        near = f" near index {index}" if index >= 0 else ""
        caret = "\n" + " " * index + "^" if 0 <= index < len(pattern) else ""
        super().__init__(f"{why}{near}\n{pattern}{caret}")


class PythonRegexError(JavaRegexError):
    """A pattern that Java takes, and Python cannot do: a look-behind of several widths, for example."""


@lru_cache(maxsize=512)
def java_regex(pattern: str) -> re.Pattern[str]:
    """Compile a Java regular expression; use `.fullmatch` for Java's `matches()`, `.search` for its `find()`.

    pattern: the Java syntax. Raises JavaRegexError, in Java's words, if Java refuses it, and PythonRegexError for what Python
    cannot do.
    """
    translated = _Parser(pattern).whole()
    try:
        return re.compile(translated, re.ASCII)
    except (re.error, OverflowError) as error:
        raise PythonRegexError(f"This pattern cannot be used in headrace: {error}", pattern, -1) from None


class _PatternReader:
    """A position in a pattern, and the flags in force there."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.pos, self.flags = pattern, 0, ""

    def fail(self, why: str, index: int) -> JavaRegexError:
        return JavaRegexError(why, self.pattern, index)

    def peek(self, ahead: int = 0) -> str:
        """The next character, or the one `ahead` of it; "" behind the end."""
        return self.pattern[self.pos + ahead : self.pos + ahead + 1]

    def take(self) -> str:
        """The next character, "" behind the end; moves on."""
        self.pos += 1
        return self.pattern[self.pos - 1 : self.pos]

    def skip_comments(self) -> None:
        """Pass over white space and `# …` where the flag x is on."""
        while "x" in self.flags and (c := self.peek()):
            if c == "#":
                end = self.pattern.find("\n", self.pos)
                self.pos = len(self.pattern) if end < 0 else end + 1
            elif c in BLANKS:
                self.pos += 1
            else:
                return


class _Characters(_PatternReader):
    """Escapes and character classes; every method gives Python syntax for what it has read."""

    def set_escape(self) -> str:
        """`\\d`, `\\h`, `\\p{Alpha}` … as a character class; "" if a single character is escaped."""
        c = self.peek()
        if c and c in SETS:
            self.pos += 1
            return SETS[c]
        if not c or c not in "pP":
            return ""
        self.pos += 1
        name = self.take()
        if name == "{":
            end = self.pattern.find("}", self.pos)
            if end < 0:
                raise self.fail("Unclosed character family", len(self.pattern))
            name, self.pos = self.pattern[self.pos : end], end + 1
        body = named_set(name)
        if body is None:
            raise self.fail(f"Unknown character property name {{{name}}}", self.pos - 1)
        return f"[{'^' if c == 'P' else ''}{body}]" if body else ("[\\s\\S]" if c == "P" else "(?!)")

    def char_escape(self) -> str:
        """The single character that an escape means, not in Python syntax."""
        start = self.pos
        c = self.take()
        if not c:
            raise self.fail("Unexpected internal error", start)
        if c in NUMERIC_ESCAPES:
            return self.numeric_escape(c, start)
        if c == "N":
            return self.named_character()
        if c == "c":
            if not (control := self.take()):
                raise self.fail("Illegal control escape sequence", start)
            return chr(ord(control) ^ 64)
        if c in _LITERAL_ESCAPES:
            return _LITERAL_ESCAPES[c]
        if c.isascii() and c.isalnum():
            raise self.fail("Illegal/unsupported escape sequence", start)
        return c

    def numeric_escape(self, kind: str, start: int) -> str:
        syntax, base, why = NUMERIC_ESCAPES[kind]
        match = syntax.match(self.pattern, start)
        if match is None:
            raise self.fail(why, start + 1)
        self.pos = match.end()
        code = int(match[match.lastindex or 0], base)
        if code > 0x10FFFF:
            raise self.fail("Hexadecimal codepoint is too big", self.pos - 2)
        return chr(code)

    def named_character(self) -> str:
        start = self.pos + 1
        if self.peek() != "{":
            raise self.fail("Illegal character name escape sequence", self.pos)
        end = self.pattern.find("}", start)
        if end < 0:
            raise self.fail("Unclosed character name escape sequence", max(len(self.pattern) - 1, start))
        name, self.pos = self.pattern[start:end], end + 1
        try:
            return unicodedata.lookup(name)
        except KeyError:
            raise self.fail(f"Unknown character name [{name}]", end) from None

    def quoted(self) -> str:
        """The text of `\\Q…\\E`, not in Python syntax."""
        start = self.pos + 1
        end = self.pattern.find("\\E", start)
        self.pos = len(self.pattern) if end < 0 else end + 2
        return self.pattern[start:] if end < 0 else self.pattern[start:end]

    def char_class(self) -> str:
        """A class behind its `[`, as one expression of width 1.

        It consists of ranges, named sets and nested classes (union), and of `&&` between them (intersection).
        """
        negated = self.peek() == "^" and bool(self.take())
        operands: list[str] = []
        pieces: list[str] = []
        while not (self.peek() == "]" and (pieces or operands)):
            if not self.peek():
                raise self.fail("Unclosed character class", len(self.pattern) - 1)
            if self.pattern.startswith("&&", self.pos):
                self.pos += 2
                operands += [_union(pieces)] if pieces else []
                pieces = []
            else:
                pieces += self.class_item()
        self.pos += 1
        operands += [_union(pieces)] if pieces else []
        both = "".join(f"(?={o})" for o in operands[:-1]) + operands[-1]
        return f"(?:(?!{both})[\\s\\S])" if negated else f"(?:{both})"

    def class_item(self) -> list[str]:
        """A character, a range, a named set or a nested class, as Python classes (none for an ignored blank)."""
        c = self.take()
        if c == "[":
            return [self.char_class()]
        if c == "\\":
            if self.peek() == "Q":
                return [f"[{re.escape(q)}]" for q in self.quoted()]
            if named := self.set_escape():
                return [named]
        elif "x" in self.flags and c in BLANKS:
            return []
        low = self.char_escape() if c == "\\" else c
        if self.peek() != "-" or self.peek(1) in ("]", "["):
            return [f"[{re.escape(low)}]"]
        self.pos += 1
        if not self.peek():
            raise self.fail("Illegal character range", self.pos)
        high = self.char_escape() if self.take() == "\\" else self.pattern[self.pos - 1]
        if high < low:
            raise self.fail("Illegal character range", self.pos - 1)
        return [f"[{re.escape(low)}-{re.escape(high)}]"]


class _Parser(_Characters):
    """Recursive descent over one pattern; a group restores the flags when it ends."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.groups, self.names = 0, set[str]()

    def whole(self) -> str:
        body = self.alternation()
        if self.peek():
            raise self.fail("Unmatched closing ')'", self.pos - 1)
        return body

    def alternation(self) -> str:
        branches = [self.sequence()]
        while self.peek() == "|":
            self.pos += 1
            branches.append(self.sequence())
        return "|".join(branches)

    def sequence(self) -> str:
        parts: list[str] = []
        while True:
            self.skip_comments()
            c = self.peek()
            if not c or c in "|)":
                return "".join(parts)
            if c in "*+?":
                raise self.fail(f"Dangling meta character '{c}'", self.pos)
            atom = "(?:)" if c == "{" else self.atom()
            parts.append(self.flagged(atom + self.quantifier()) if atom else "")

    def flagged(self, text: str) -> str:
        flags = "".join(f for f in self.flags if f in "im")
        return f"(?{flags}:{text})" if flags else text

    def quantifier(self) -> str:
        self.skip_comments()
        c = self.peek()
        if c in ("*", "+", "?"):
            count = self.take()
        elif c == "{":
            count = self.count()
        else:
            return ""
        return count + (self.take() if self.peek() in ("?", "+") else "")

    def count(self) -> str:
        match = _COUNT.match(self.pattern, self.pos)
        if match is None:
            raise self.fail("Illegal repetition", self.pos + 1)
        self.pos = match.end()
        low = whole_number(match[1], 0, _MAX_COUNT)
        high = whole_number(match[3], 0, _MAX_COUNT) if match[3] else low
        if low is None or high is None:
            raise self.fail("Illegal repetition range", self.pos - 1)
        if self.peek() != "}":
            raise self.fail("Unclosed counted closure", self.pos)
        if high < low:
            raise self.fail("Illegal repetition range", self.pos)
        self.pos += 1
        return match[0] + "}"

    def atom(self) -> str:
        """One atom, ready for a quantifier; "" if it was an inline flag, which takes no room."""
        c = self.take()
        if c == "(":
            return self.group()
        if c == "[":
            return self.char_class()
        if c == "\\":
            return self.escape()
        if c == ".":
            return "[\\s\\S]" if "s" in self.flags else DOT
        return f"(?:{c})" if c in "^$" else re.escape(c)

    def escape(self) -> str:
        c = self.peek()
        if c and c in "123456789":
            return self.back_reference()
        for of_java in ("X", "G", "b{g}"):
            if self.pattern.startswith(of_java, self.pos):
                self.pos += len(of_java)
                return "(?:\\X)"  # which Python refuses
        if c in _ASSERTIONS:
            self.pos += 1
            return f"(?:{_ASSERTIONS[c]})"
        if c == "k" and self.peek(1) == "<":
            self.pos += 2
            name = self.group_name()
            if name not in self.names:
                raise self.fail(f"named capturing group <{name}> does not exist", self.pos - 1)
            return f"(?P={name})"
        if c == "Q":
            return re.escape(self.quoted()) or "(?:)"  # a quantifier behind it counts for its last character
        if c == "R":
            self.pos += 1
            return LINE_BREAK
        return self.set_escape() or re.escape(self.char_escape())

    def back_reference(self) -> str:
        number = int(self.take())
        while self.peek().isdecimal() and number * 10 + int(self.peek()) <= self.groups:
            number = number * 10 + int(self.take())
        return f"(?:\\{number})" if number <= self.groups else "(?!)"

    def group(self) -> str:
        outer, start = self.flags, self.pos
        if self.peek() != "?":
            self.groups += 1
            return self.rest_of_group("(", outer)
        self.pos += 1
        c = self.take()
        if c in (":", "=", "!", ">"):
            return self.rest_of_group(f"(?{c}", outer)
        if c == "<":
            return self.rest_of_group(self.look_behind_or_name(), outer)
        self.pos = start + 1
        self.inline_flags()
        c = self.take()
        if c == ")":
            return ""
        if c != ":":
            raise self.fail("Unknown inline modifier", self.pos - 1)
        return self.rest_of_group("(?:", outer)

    def rest_of_group(self, opening: str, outer_flags: str) -> str:
        body = self.alternation()
        if self.take() != ")":
            raise self.fail("Unclosed group", len(self.pattern))
        self.flags = outer_flags
        return f"{opening}{body})"

    def look_behind_or_name(self) -> str:
        if self.peek() in ("=", "!"):
            return f"(?<{self.take()}"
        name = self.group_name()
        if name in self.names:
            raise self.fail(f"Named capturing group <{name}> is already defined", self.pos - 1)
        self.names.add(name)
        self.groups += 1
        return f"(?P<{name}>"

    def group_name(self) -> str:
        match = _NAME.match(self.pattern, self.pos)
        if match is None:
            raise self.fail("capturing group name does not start with a Latin letter", self.pos)
        self.pos = match.end()
        if self.take() != ">":
            raise self.fail("named capturing group is missing trailing '>'", self.pos - 1)
        return match[0]

    def inline_flags(self) -> None:
        on = True
        while (c := self.peek()) and c in _FLAGS + "-":
            self.pos += 1
            if c == "-":
                on = False
            else:
                self.flags = self.flags.replace(c, "") + (c if on else "")


def _union(pieces: list[str]) -> str:
    plain = "".join(p[1:-1] for p in pieces if p.startswith("[") and not p.startswith("[^"))
    remaining = [p for p in pieces if not p.startswith("[") or p.startswith("[^")]
    alternatives = ([f"[{plain}]"] if plain else []) + remaining
    return alternatives[0] if len(alternatives) == 1 else f"(?:{'|'.join(alternatives)})"
