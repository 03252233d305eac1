"""The named sets and the numeric escapes of Java's regular expressions, within ASCII (see `java_pattern`)."""

from __future__ import annotations

import re
import unicodedata

BLANKS = " \t\n\x0b\f\r"
DOT = "[^\\n\\r\\x85\\u2028\\u2029]"
LINE_BREAK = "(?:\\r\\n|[\\n\\x0b\\f\\r\\x85\\u2028\\u2029])"
_HORIZONTAL = " \\t\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000"
_VERTICAL = "\\n\\x0b\\f\\r\\x85\\u2028\\u2029"

SETS = {
    "d": "[0-9]",
    "D": "[^0-9]",
    "w": "[A-Za-z0-9_]",
    "W": "[^A-Za-z0-9_]",
    "s": "[ \\t\\n\\x0b\\f\\r]",
    "S": "[^ \\t\\n\\x0b\\f\\r]",
    "h": f"[{_HORIZONTAL}]",
    "H": f"[^{_HORIZONTAL}]",
    "v": f"[{_VERTICAL}]",
    "V": f"[^{_VERTICAL}]",
}

_PUNCTUATION = "!-/:-@\\[-`{-~"
_NAMED = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\\x00-\\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": _PUNCTUATION,
    "Graph": "!-~",
    "Print": " -~",
    "Blank": " \\t",
    "Cntrl": "\\x00-\\x1f\\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": " \\t\\n\\x0b\\f\\r",
    "javaLowerCase": "a-z",
    "javaUpperCase": "A-Z",
    "javaLetter": "a-zA-Z",
    "javaDigit": "0-9",
    "javaLetterOrDigit": "a-zA-Z0-9",
    "javaWhitespace": "\\t-\\r\\x1c-\\x20",
    "InBasicLatin": "\\x00-\\x7f",
    "IsLatin": "a-zA-Z",
    "IsAlphabetic": "a-zA-Z",
    "IsLetter": "a-zA-Z",
    "IsLowercase": "a-z",
    "IsUppercase": "A-Z",
    "IsDigit": "0-9",
    "IsPunctuation": "!-#%-*,-/:;?@\\[-\\]_{}",
    "IsWhite_Space": " \\t\\n\\x0b\\f\\r",
}
_LETTERS = {"Lu", "Ll", "Lt", "Lm", "Lo", "LC", "L"}
_CATEGORIES = _LETTERS | {"N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "M", "Z", "Zs"}
_CATEGORIES |= {"S", "Sm", "Sc", "Sk", "So", "C", "Cc", "Mn", "Me", "Mc", "Zl", "Zp", "Cf", "Co", "Cs", "Cn"}
_WIDER = {"LD": "0-9a-zA-Z", "L1": "\\x00-\\x7f", "all": "\\x00-\\x7f"}
"""Names that stand beside the categories, in Java."""
_SCRIPT_SETS = {"LATIN": "a-zA-Z", "COMMON": "\\x00-@\\[-`{-\\x7f"}
_SCRIPT_NAMES = """
COMMON LATIN GREEK CYRILLIC ARMENIAN HEBREW ARABIC SYRIAC THAANA DEVANAGARI BENGALI GURMUKHI GUJARATI ORIYA TAMIL TELUGU
KANNADA MALAYALAM SINHALA THAI LAO TIBETAN MYANMAR GEORGIAN HANGUL ETHIOPIC CHEROKEE CANADIAN_ABORIGINAL OGHAM RUNIC KHMER
MONGOLIAN HIRAGANA KATAKANA BOPOMOFO HAN YI OLD_ITALIC GOTHIC DESERET INHERITED TAGALOG HANUNOO BUHID TAGBANWA LIMBU
TAI_LE LINEAR_B UGARITIC SHAVIAN OSMANYA CYPRIOT BRAILLE BUGINESE COPTIC NEW_TAI_LUE GLAGOLITIC TIFINAGH SYLOTI_NAGRI
OLD_PERSIAN KHAROSHTHI BALINESE CUNEIFORM PHOENICIAN PHAGS_PA NKO SUNDANESE BATAK LEPCHA OL_CHIKI VAI SAURASHTRA KAYAH_LI
REJANG LYCIAN CARIAN LYDIAN CHAM TAI_THAM TAI_VIET AVESTAN EGYPTIAN_HIEROGLYPHS SAMARITAN MANDAIC LISU BAMUM JAVANESE
MEETEI_MAYEK IMPERIAL_ARAMAIC OLD_SOUTH_ARABIAN INSCRIPTIONAL_PARTHIAN INSCRIPTIONAL_PAHLAVI OLD_TURKIC BRAHMI KAITHI
MEROITIC_HIEROGLYPHS MEROITIC_CURSIVE SORA_SOMPENG CHAKMA SHARADA TAKRI MIAO CAUCASIAN_ALBANIAN BASSA_VAH DUPLOYAN ELBASAN
GRANTHA PAHAWH_HMONG KHOJKI LINEAR_A MAHAJANI MANICHAEAN MENDE_KIKAKUI MODI MRO OLD_NORTH_ARABIAN NABATAEAN PALMYRENE
PAU_CIN_HAU OLD_PERMIC PSALTER_PAHLAVI SIDDHAM KHUDAWADI TIRHUTA WARANG_CITI AHOM ANATOLIAN_HIEROGLYPHS HATRAN MULTANI
OLD_HUNGARIAN SIGNWRITING ADLAM BHAIKSUKI MARCHEN NEWA OSAGE TANGUT MASARAM_GONDI NUSHU SOYOMBO ZANABAZAR_SQUARE
HANIFI_ROHINGYA OLD_SOGDIAN SOGDIAN DOGRA GUNJALA_GONDI MAKASAR MEDEFAIDRIN ELYMAIC NANDINAGARI NYIAKENG_PUACHUE_HMONG
WANCHO YEZIDI CHORASMIAN DIVES_AKURU KHITAN_SMALL_SCRIPT UNKNOWN
"""
_SCRIPTS = frozenset(_SCRIPT_NAMES.split())
"""The names of `Character.UnicodeScript`; all but _SCRIPT_SETS have nothing in ASCII."""

NUMERIC_ESCAPES = {
    "x": (re.compile(r"x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))"), 16, "Illegal hexadecimal escape sequence"),
    "u": (re.compile(r"u([0-9A-Fa-f]{4})"), 16, "Illegal Unicode escape sequence"),
    "0": (re.compile(r"0([0-3][0-7]{2}|[0-7]{1,2})"), 8, "Illegal octal escape sequence"),
}


def named_set(name: str) -> str | None:
    """The inside of a Python character class for `\\p{name}`.

    Returns "" if nothing in ASCII belongs to it, None if there is no such set.
    """
    if name in _NAMED:
        return _NAMED[name]
    key, _, value = name.rpartition("=")
    category = value if key in ("general_category", "gc") else name.removeprefix("Is")
    if category in _WIDER:
        return _WIDER[category]
    script = (value if key in ("script", "sc") else name[2:] if name.startswith("Is") else "").upper()
    if script in _SCRIPTS:
        return _SCRIPT_SETS.get(script, "")
    if category not in _CATEGORIES:
        return None
    categories = ("Lu", "Ll", "Lt") if category == "LC" else (category,)
    return "".join(re.escape(chr(c)) for c in range(128) if unicodedata.category(chr(c)).startswith(categories))
