"""The parts of the report page in HTML; `markup.fill` fills them in."""

from __future__ import annotations

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1><bdi>{title}</bdi></h1>
<p class="headline">{headline}</p>
{warnings}</header>
<main>
<section>
<dl class="tiles">
{tiles}</dl>
{numbers}</section>
<section>
<h2>Plots</h2>
<div class="plots">
{plots}</div>
</section>
{largest}{weakest}<section>
<h2>Repeat the run</h2>
<pre><code>{command}</code></pre>
{inputs}{settings}</section>
</main>
</body>
</html>"""
WARNING = """\
<p class="warning" role="alert"><b>Check this:</b> <bdi>{warning}</bdi></p>
"""
TILE = """\
<div><dt>{label}</dt><dd>{value}</dd></div>
"""
TABLE = """\
<div class="scroll"><table>
{rows}</table></div>
"""
ROW = """\
<tr><th scope="row">{name}</th><td>{value}</td></tr>
"""
INPUT_ROW = """\
<tr><th scope="row"><bdi>{name}</bdi></th><td>{value}</td></tr>
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
{clusters}
</section>
"""
WEAKEST = """\
<section>
<h2>Weakest removals</h2>
<p class="soft">Removed documents with the lowest similarity to the one they duplicate, \
to check whether the threshold of {threshold} is right.</p>
{unproven}{clusters}
</section>
"""
UNPROVEN = """\
<p>{removed} removed {documents} not reach the threshold: connected
components join documents by chains of pairs, whose ends need not be similar. \
<code>--cluster star</code> removes only documents that reach it.</p>
"""
CLUSTER = """\
<article class="cluster card">
<h3>{size} documents; {role}: <bdi class="id">{kept}</bdi></h3>
{copies}{unshown}</article>
"""
UNSHOWN = """\
<p class="soft">and {count} more in <code>clusters.parquet</code></p>
"""
COPY = """\
<details{opened}>
<summary><bdi class="id"><b>{id}</b></bdi> · {similarity} · \
<span class="soft">{changes}</span></summary>
{chain}<div class="diff">
<div class="row sides"><div>{role}: <bdi class="id">{kept}</bdi></div>\
<div>removed: <bdi class="id">{id}</bdi></div></div>
{rows}{incomplete}</div>
</details>
"""
CHAIN = """\
<p class="chain">connected by a chain of pairs, with the similarity of each: \
<bdi class="id">{chain}</bdi></p>
"""
SIDES = """\
<div class="row">
{left}{right}</div>
"""
COLUMN = """\
<div class="text" dir="{direction}" data-side="{side}">{pieces}</div>
"""
NOTE = """\
<div class="note">{note}</div>
"""
