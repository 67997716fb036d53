"""What a run with decisions must give, by its definition: slow, and one document at a time."""

from dataclasses import dataclass, field
from itertools import combinations


@dataclass
class Twin:
    """What holds: groups of the same, pairs that differ, pinned ones, and the links of groups."""

    groups: dict = field(default_factory=dict)
    links: list = field(default_factory=list)
    different: set = field(default_factory=set)
    pinned: set = field(default_factory=set)

    def group(self, place):
        return self.groups.get(place, {place})

    def differ(self, some, others):
        return any(frozenset((a, b)) in self.different for a in some for b in others)

    @property
    def special(self):
        return {*self.groups, *self.pinned, *(one for pair in self.different for one in pair)}


def weighed(said, n):
    """`said` has (says, places, by) in the order of time; the newest of equal ones counts.

    Whether documents of the other collection, from `n` on, differ among themselves is no matter.
    """
    newest = {}
    for number, (says, places, by) in enumerate(said):
        newest[by, says == "keep", frozenset(places)] = number
    said = [said[number] for number in sorted(newest.values())]
    opinion = {}
    for number, (says, places, by) in enumerate(said):
        if says in ("same", "different"):
            for pair in combinations(places, 2):
                opinion.setdefault(frozenset(pair), {})[by] = number
    twin = Twin()
    for pair, numbers in opinion.items():
        if {said[number][0] for number in numbers.values()} == {"different"} and min(pair) < n:
            twin.different.add(pair)
    for says, places, by in said:
        if says == "same":
            for a, b in combinations(places, 2):
                views = opinion[frozenset((a, b))]
                agree = len({said[one][0] for one in views.values()}) == 1
                # Of several lists of one reviewer that say "same", all count.
                holds = said[views[by]][0] == "same" and agree
                if not holds or b in twin.group(a):
                    continue
                if twin.differ(twin.group(a), twin.group(b)):
                    continue
                twin.links.append((a, b))
                whole = twin.group(a) | twin.group(b)
                for one in whole:
                    twin.groups[one] = whole
    keeps = [(places, by) for says, places, by in said if says == "keep"]
    replaced, rivals = set(), []
    for i, (one, by) in enumerate(keeps):
        for j, (other, whose) in enumerate(keeps):
            if i != j and one[0] in other[1:]:
                if by != whose:
                    rivals.append((i, j))
                elif i < j:
                    replaced.add(i)
    out = {number for pair in rivals if not replaced & set(pair) for number in pair} | replaced
    pinned = {places[0] for i, (places, _) in enumerate(keeps) if i not in out}
    twin.pinned = {place for place in pinned if place < n}
    return twin


def stars(twin, order, similarity, near, n, within=True):
    """For each removed document the kept one; places from `n` on are of the other collection."""
    order = [one for one in order if one in twin.pinned] + [
        one for one in order if one not in twin.pinned
    ]
    kept, removed, done, clashes = list(range(n, len(similarity))), {}, set(), set()
    for place in order:
        if place in done:
            if place in twin.pinned and within:
                kept.append(place)
            continue
        group = twin.group(place)
        own = [one for one in order if one in group]
        done.update(own)
        others = sorted(one for one in group if one >= n)
        pinned = [one for one in own if one in twin.pinned]
        options = [
            one
            for one in kept
            if any(near[member, one] for member in group - twin.pinned if member < n)
            and not twin.differ(group, {one})
        ]
        if others:
            centre = others[0]
        elif pinned and within:
            centre = pinned[0]
        elif options:
            best = {
                one: max(similarity[m, one] for m in own if m not in pinned and near[m, one])
                for one in options
            }
            centre = next(one for one in options if best[one] == max(best.values()))
        elif within:
            centre = own[0]
        else:
            continue
        for one in own:
            if one != centre and one not in twin.pinned:
                removed[one] = centre
        if within and place not in removed:
            kept.append(place)
    for a, b in combinations(sorted(twin.pinned), 2):
        if near[a, b] and not twin.differ({a}, {b}) and b not in twin.group(a):
            clashes.add((a, b))
    return removed, clashes


def dense(twin, similarity, near, n, kinds, node_of, share):
    """The dense cluster of each document, by its definition.

    Documents that are the same come first, then exact copies, then pairs, if at least `share` of
    the cross pairs reach the threshold. In the other collection, copies that nobody tells apart
    count once (`node_of`), and nothing is compared.
    """
    counts = {place: place if place < n else node for place, node in node_of.items()}
    whole = {place: frozenset([place]) for place in sorted(set(counts.values()))}
    links = [(counts[a], counts[b]) for a, b in twin.links]
    pairs = [
        (a, b)
        for a, b in combinations(whole, 2)
        if a < n and near[a, b] and not twin.differ({a}, {b})
    ]
    pairs.sort(key=lambda pair: (-similarity[pair], sorted(kinds[one] for one in pair), pair))
    copies = [(a, b) for a, b in pairs if kinds[a] == kinds[b]]
    for a, b in [*links, *copies, *pairs]:
        one, other = whole[a], whole[b]
        if one is other or twin.differ(one, other):
            continue
        crosses = [(x, y) for x in one for y in other if x < n or y < n]
        certain = (a, b) in links or (a, b) in copies
        if certain or sum(near[cross] for cross in crosses) / len(crosses) >= share:
            whole |= dict.fromkeys(one | other, one | other)
    return whole


def components(twin, order, similarity, near, n, kinds, share=None):
    """For each removed document the kept one, and the next one on the chain.

    With a `share`, of dense clusters.
    """
    count = len(similarity)
    pinned = twin.pinned
    nodes = {}
    for place in range(count):
        if place not in twin.special:
            key = (kinds[place], "ordinary") if kinds[place] is not None else (place,)
        elif place in pinned or place not in twin.groups or kinds[place] is None:
            key = (place,)
        else:
            key = (kinds[place], min(twin.groups[place]))
        nodes.setdefault(key, []).append(place)
    node_of = {place: min(members) for members in nodes.values() for place in members}
    members_of = {min(members): members for members in nodes.values()}
    names = sorted(members_of)

    def differ(some, others):
        return twin.differ(
            {one for node in some for one in members_of[node]},
            {one for node in others for one in members_of[node]},
        )

    links = [
        tuple(sorted((node_of[a], node_of[b]))) for a, b in twin.links if node_of[a] != node_of[b]
    ]
    pairs = [
        (a, b)
        for a, b in combinations(names, 2)
        if near[a, b] and not (a >= n and b >= n) and not differ({a}, {b}) and (a, b) not in links
    ]
    pairs.sort(key=lambda pair: (-similarity[pair], pair))
    whole = {node: {node} for node in names}
    if share is not None:
        whole = dense(twin, similarity, near, n, kinds, node_of, share)
        assert all(one >= n or one in whole[node_of[one]] for one in node_of)
    else:
        for a, b in [*links, *pairs]:
            if not differ(whole[a], whole[b]):
                merged = whole[a] | whole[b]
                for one in merged:
                    whole[one] = merged
    edges = [(a, b) for a, b in [*links, *pairs] if b in whole[a] and not (a >= n and b >= n)]
    near_to = {node: set() for node in names}
    for a, b in edges:
        near_to[a].add(b)
        near_to[b].add(a)
    connected = {}
    for node in names:
        if node not in connected:
            found, front = {node}, [node]
            while front:
                front = [b for a in front for b in near_to[a] if b not in found]
                found.update(front)
            for one in found:
                connected[one] = found
    kept_at, clashes = {}, set()
    for found in {id(one): one for one in connected.values()}.values():
        documents = [place for place in order if node_of[place] in found]
        sources = [node for node in found if node >= n]
        held = [place for place in documents if place in pinned]
        clashes |= {
            (min(held[0], one), max(held[0], one))
            for one in held[1:]
            if one not in twin.group(held[0])
        }
        sources += held
        if not sources and documents:
            first = documents[0]
            kept_at[node_of[first]] = first
        kept_at.update((node_of[one], one) for one in sources)
    level, kept, follows = sorted(kept_at), dict(kept_at), {}
    while level:
        fresh = {}
        for a in level:
            for b in near_to[a]:
                if b not in kept:
                    fresh.setdefault(b, a)
        for b, a in fresh.items():
            kept[b], follows[b] = kept[a], a
        level = sorted(fresh)
    removed = {}
    for place in order:
        node = node_of[place]
        if kinds[place] is None and place not in twin.special:
            continue
        if kept[node] == place:
            continue
        direct = node_of[kept[node]] in (node, follows.get(node))
        removed[place] = (kept[node], kept[node] if direct else follows[node])
    return removed, clashes
