"""The parts of the report page in HTML; `markup.fill` fills them in."""

from __future__ import annotations

from neardup.report.page_head import PAGE_HEAD

PAGE = (
    PAGE_HEAD
    + """\
{when}{warnings}{hint}</header>
<main>
<section>
<dl class="tiles">
{tiles}</dl>
</section>
<section>
<h2>Plots</h2>
<div class="plots">
{plots}</div>
</section>
{largest}{weakest}<section>
<h2>The run</h2>
<div class="columns">
<div>
<h3>Numbers</h3>
{numbers}</div>
<div>
<h3>Settings</h3>
{settings}</div>
</div>
<h3>Inputs</h3>
{inputs}<h3>Repeat the run</h3>
<pre><code>{command}</code></pre>
</section>
</main>
</body>
</html>"""
)
WHEN = """\
<p class="soft">Run started <time datetime="{moment}">{shown}</time></p>
"""
HINT = """\
<p class="hint"><code>neardup explore {folder}</code> shows every cluster, and records what you \
decide about it.</p>
"""
WARNING = """\
<p class="warning" role="alert"><b>Check this:</b> <bdi>{warning}</bdi></p>
"""
TILE = """\
<div><dt>{label}</dt><dd>{value}</dd></div>
"""
TABLE = """\
<div class="scroll"><table class="facts">
{rows}</table></div>
"""
ROW = """\
<tr><th scope="row">{name}</th><td>{value}</td></tr>
"""
INPUT_ROW = """\
<tr><th scope="row"><bdi>{name}</bdi></th><td>{value}</td></tr>
"""
NO_INPUTS = """\
<p class="soft">Documents in memory, without a name.</p>
"""
SETTING_ROW = """\
<tr><th scope="row">{name}</th><td><bdi>{value}</bdi></td></tr>
"""
FIGURE = """\
<figure class="card">
<h3>{heading}</h3>
{drawing}<figcaption>{text}</figcaption>
</figure>
"""
DRAWING = """\
<div class="drawing">{svg}</div>
"""
LARGEST = """\
<section>
<h2>Largest clusters</h2>
<p class="soft">Left: the kept document; right: a removed one. \
<del>Struck through</del>: only in the
kept one; <ins>underlined</ins>: only in the removed one; \
<span class="variant">dotted</span>: other case or punctuation.</p>
{clusters}</section>
"""
WEAKEST = """\
<section>
<h2>Weakest removals</h2>
<p class="soft">Removed documents with the lowest similarity to the one they duplicate, \
to check whether the threshold of {threshold} is right.</p>
{unproven}{clusters}</section>
"""
ORDERS = """\
<fieldset class="chips orders"><legend>Sorted by</legend>
{choices}</fieldset>
"""
ORDER = """\
<label><input type="radio" name="{list}" class="by-{place}"{checked}> {name}</label>
"""
LIST = """\
{choices}<div class="list">
{clusters}</div>
"""
PLACES = ' style="{ranks}"'
UNPROVEN = """\
<p>{removed} removed {documents} not reach the threshold: chains
of pairs connect them to the kept one, and the ends of a chain need not be similar. \
<code>--cluster star</code> removes only documents that reach it.</p>
"""
CLUSTER = """\
<article class="cluster card"{places}>
<h3>{size} documents; {role}: <bdi class="id">{kept}</bdi>{least}</h3>
{copies}{unshown}</article>
"""
LEAST = """\
 <span class="soft">· weakest {similarity}</span>"""
UNSHOWN = """\
<p class="soft">and {count} more in <code>clusters.parquet</code></p>
"""
COPY = """\
<details{opened}>
<summary><bdi class="id"><b>{id}</b></bdi> · {similarity} · \
<span class="soft">{changes}</span></summary>
{chain}{compared}</details>
"""
SPANS = """\
<p class="shared">{inside} of the {words} words of the removed document ({share}) stand in the \
other one word for word:</p>
{spans}{more}"""
SPAN = """\
<blockquote class="shared"><bdi dir="auto">{text}</bdi></blockquote>
"""
MORE_SPANS = """\
<p class="soft">and {count} shorter runs of words</p>
"""
DIFF = """\
<div class="diff">
<div class="row sides"><div>{role}: <bdi class="id">{kept}</bdi></div>\
<div>removed: <bdi class="id">{id}</bdi></div></div>
{rows}{incomplete}</div>
"""
FIELDS = """\
<div class="scroll"><table class="wide record scored">
<thead><tr>{headings}<th scope="col" class="number">Similarity</th>\
<th scope="col" class="number">Weight</th>{adds}\
</tr></thead>
<tbody>
{rows}</tbody>
{total}</table></div>
<p class="soft small">{verdict}</p>
"""
OF_RECORDS = """\
<th scope="col">Field</th><th scope="col">{role}: <bdi class="id">{kept}</bdi></th>\
<th scope="col">removed: <bdi class="id">{id}</bdi></th>"""
OF_TEXTS = '<th scope="col">Part</th><th scope="col" colspan="2">Compared by</th>'
ADDS = '<th scope="col" class="number">Adds</th>'
FIELD = """\
<tr{differing}><th scope="row"><bdi>{name}</bdi>{values}\
<td class="number" data-name="similarity">{similarity}</td>\
<td class="number" data-name="weight">{weight}</td>{adds}</tr>
"""
VALUES = """\
 <span class="how">{how}</span></th>\
<td class="lines" data-side="kept"><bdi dir="auto">{left}</bdi></td>\
<td class="lines" data-side="removed"><bdi dir="auto">{right}</bdi></td>"""
WHOLE = '</th><td class="whole" colspan="2">{how}</td>'
ADDED = '<td class="number" data-name="adds">{adds}</td>'
TOTAL = """\
<tfoot><tr><th scope="row" colspan="5">Sum</th><td class="number">{total}</td></tr></tfoot>
"""
CHAIN = """\
<p class="chain">connected by a chain of pairs, with the similarity of each: \
<bdi class="id">{chain}</bdi></p>
"""
SIDES = """\
<div class="row{continues}">
{columns}</div>
"""
COLUMN = """\
<div class="text{code}" dir="{direction}" data-side="{side}">{pieces}</div>
"""
NOTE = """\
<div class="note">{note}</div>
"""
