"""Collections with known near-duplicates."""

import random


def planted_texts(count, words=60, share=0.2, changed=2, seed=0):
    """Random texts, some of them followed later by a copy with a few words changed."""
    chance = random.Random(seed)
    vocabulary = [f"w{number}" for number in range(5000)]
    texts = [" ".join(chance.choices(vocabulary, k=words)) for _ in range(count)]
    for place in range(int(count * share)):
        copied = texts[place].split()
        for _ in range(chance.randrange(changed + 1)):
            copied[chance.randrange(words)] = chance.choice(vocabulary)
        texts[count - 1 - place] = " ".join(copied)
    return texts


def shingles(text, size=3):
    words = text.lower().split()
    if len(words) < size:
        return {tuple(words)} if words else set()
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}


def true_pairs(texts, threshold, size=3):
    """Every pair of different documents of that Jaccard similarity, the slow way."""
    sets = [shingles(text, size) for text in texts]
    found = {}
    for a, one in enumerate(sets):
        for b in range(a + 1, len(sets)):
            other = sets[b]
            shared = len(one & other)
            union = len(one) + len(other) - shared
            if one and other and shared >= threshold * union:
                found[a, b] = shared / union
    return found
