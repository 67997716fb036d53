"""The parts of the page of an evaluation in HTML; `markup.fill` fills them in."""

from __future__ import annotations

from neardup.report.page_head import PAGE_HEAD

PAGE = (
    PAGE_HEAD
    + """\
<p class="hint"><bdi>{about}</bdi></p>
</header>
<main>
<section>
{rates}{readings}{notes}</section>
<section>
<h2>Thresholds</h2>
<div class="plots">
{plots}</div>
{curve}{curve_notes}</section>
<section>
<h2>False pairs</h2>
<p class="soft">{false_heading}</p>
{false}</section>
<section>
<h2>Missed pairs</h2>
<p class="soft">{missed_heading}</p>
{missed_sentence}{missed}</section>
</main>
</body>
</html>"""
)
SOFT = """\
<p class="soft">{text}</p>
"""
LIST = """\
<ul>
{items}</ul>
"""
ITEM = """\
<li><bdi>{text}</bdi></li>
"""
RATES = """\
<div class="scroll"><table>
<thead><tr><th scope="col"></th><th scope="col">precision</th><th scope="col">recall</th>\
<th scope="col">F1</th><th scope="col" class="number">found</th>\
<th scope="col" class="number">right</th><th scope="col" class="number">true</th></tr></thead>
<tbody>
{rows}</tbody>
</table></div>
"""
RATES_ROW = """\
<tr><th scope="row">{what}</th>\
<td class="nowrap">{precision} <span class="soft">{precision_span}</span></td>\
<td class="nowrap">{recall} <span class="soft">{recall_span}</span></td>\
<td class="nowrap"><b>{f1}</b> <span class="soft">{f1_span}</span></td>\
<td class="number">{found}</td>\
<td class="number">{right}</td><td class="number">{true}</td></tr>
"""
FIGURE = """\
<figure class="card">
<h3>{heading}</h3>
<div class="drawing">{svg}</div>
<figcaption>{text}</figcaption>
</figure>
"""
CURVE = """\
<div class="scroll"><table>
<thead><tr><th scope="col" class="number">threshold</th>\
<th scope="col" class="number">precision</th>\
<th scope="col" class="number">recall</th><th scope="col" class="number">F1</th>\
<th scope="col" class="number">found</th><th scope="col" class="number">right</th>\
<th scope="col"></th></tr></thead>
<tbody>
{rows}</tbody>
</table></div>
"""
CURVE_ROW = """\
<tr><td class="number">{threshold}</td><td class="number">{precision}</td>\
<td class="number">{recall}</td><td class="number">{f1}</td><td class="number">{found}</td>\
<td class="number">{right}</td><td class="nowrap">{marks}</td></tr>
"""
MISTAKE = """\
<details class="card"{opened}>
<summary>{similarity} · <bdi class="id"><b>{a}</b></bdi> and <bdi class="id"><b>{b}</b></bdi> · \
<span class="soft">{why}</span></summary>
<div class="diff">
<div class="row sides"><div><bdi class="id">{a}</bdi></div>\
<div><bdi class="id">{b}</bdi></div></div>
{rows}</div>
</details>
"""
SIDES = """\
<div class="row{continues}">
<div class="text{code}" dir="{left_direction}">{left}</div>
<div class="text{code}" dir="{right_direction}">{right}</div>
</div>
"""
NOTE = """\
<div class="note">{note}</div>
"""
