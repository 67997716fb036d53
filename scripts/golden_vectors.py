"""Write the golden vectors of the nd1 scheme, from its reference and never from the kernels.

    python scripts/golden_vectors.py > tests/golden/nd1.json
    python scripts/golden_vectors.py keyed > tests/golden/nd1_keyed.json

Run it to add texts or schemes. What is already in the file must come out unchanged: stored
fingerprints depend on it.
"""

import json
import sys

from neardup.fingerprints import Scheme
from neardup.kernels.hash_key import HashKey, key_check
from neardup.kernels.reference import text as reference
from neardup.kernels.reference.keyed import KeyedHash

TEXTS = {
    "English": "The quick brown fox jumps over the lazy dog; the lazy dog sleeps. It's 7 o'clock!",
    "Russian": "Съешь же ещё этих мягких французских булок, да выпей ЧАЮ. Ѐѝ Ѡѡ Ҋҋ",
    "Greek": "Ο Σίσυφος ΣΊΣΥΦΟΣ κυλά τον λίθο· ΟΔΥΣΣΕΥΣ, Οδυσσεύς.",
    "Turkish": "İstanbul'da ılık bir IŞIK; DİYARBAKIR ve Iğdır.",
    "German": "Straße, STRASSE und STRAẞE: Grüße aus Köln_am_Rhein 2024.",
    "Chinese": "床前明月光，疑是地上霜。舉頭望明月，低頭思故鄉。〇々𠀀",
    "Japanese": "吾輩は猫である。名前はまだ無い。コーヒー ｺｰﾋｰ か\u3099",
    "Thai": "สวัสดีชาวโลก ๑๒๓ ภาษาไทย",
    "Lao, Khmer, Myanmar": "ສະບາຍດີ ຊາວໂລກ សួស្តី​ពិភពលោក မင်္ဂလာပါ",
    "Arabic": "السَّلَامُ عَلَيْكُمْ يا عالم ١٢٣",
    "Hindi": "नमस्ते दुनिया, यह हिन्दी है। १२३",
    "Korean": "안녕하세요 세계! 한글은 낱말 사이를 띄어 쓴다.",
    "emoji": "I ❤\ufe0f NY 👩🏽\u200d💻 ok\ufe0f 1\ufe0f\u20e3",
    "decomposed": "cafe\u0301 CAFE\u0301 café \u0301lone a\u0308\u0323b",
    "mixed": "Отчёт Q3_2024 (東京支社): revenue +12,5% — größer als 前年比, см. https://example.org/Ⱥ",
    "white space": "  one\ttwo\r\n three\u00a0four\u3000five\u2028six\u200bseven\x85 ",
    "one word": "Word",
    "one character": "京",
    "two words": "two words",
    "long words": "Donaudampfschifffahrtsgesellschaftskapitän 0123456789abcdef 0123456789abcdefg "
    "0123456789ABCDEF0123456789ABCDEF Приключенческий_роман_в_двух_частях",
    "repeated": "a rose is a rose is a rose is a rose",
    "many words": " ".join(f"w{i * i}" for i in range(200)),
    "empty": "",
    "no word": "… ❤\ufe0f \u0301 — ½²!",
}

SCHEMES = (
    "nd1/word:3/set/64",
    "nd1/word:1/count/128",
    "nd1/word:3/set/512",
    "nd1/word:2/count/64/>=0",
    "nd1/word:1/set/65/>=0",
    "nd1/word:5/set/1",
    "nd1/char:4/set/64",
    "nd1/char:1/count/42",
    "nd1/char:9/count/129/>=0",
)

# The published key that pins the keyed scheme; use it for nothing else.
KEY_NAME = "test"
KEY = bytes(range(16))


def fingerprint(text: str, scheme: Scheme) -> str | None:
    """Give the bytes of a stored fingerprint as hexadecimal digits, None for an empty document."""
    if not reference.words(text):
        return None
    row = reference.fingerprint(
        text,
        unit=scheme.features.kinds[0].unit,
        size=scheme.features.kinds[0].size,
        distinct=scheme.weights == "set",
        bits=scheme.bits,
        ties_up=scheme.tie == ">=0",
        keyed=KeyedHash(HashKey.derive(KEY_NAME, KEY)) if scheme.is_keyed else None,
    )
    return b"".join(word.to_bytes(8, "big") for word in row)[: scheme.row_bytes].hex()


def schemes(keyed: bool) -> list[str]:
    """Give the schemes, or the same with the published key."""
    hash_ = f"nd1:{KEY_NAME}#{key_check(KEY_NAME, KEY)}" if keyed else "nd1"
    return [scheme.replace("nd1", hash_, 1) for scheme in SCHEMES]


def main(keyed: bool = False) -> None:
    """Write the vectors to standard output."""
    vectors = {
        name: {
            "text": text,
            "words": len(reference.words(text)),
            "fingerprints": {
                name: fingerprint(text, Scheme.parse(name)) for name in schemes(keyed)
            },
        }
        for name, text in TEXTS.items()
    }
    print(json.dumps(vectors, indent=1))


if __name__ == "__main__":
    main(keyed=sys.argv[1:] == ["keyed"])
