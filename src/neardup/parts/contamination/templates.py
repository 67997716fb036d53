"""The parts of the page in HTML; `markup.fill` fills them in."""

from __future__ import annotations

from neardup.report.page_head import PAGE_HEAD

PAGE = (
    PAGE_HEAD
    + """\
<p class="hint">{about}</p>
</header>
<main>
<section>
<h2>Benchmarks</h2>
<div class="scroll"><table>
<thead><tr><th scope="col">benchmark</th><th scope="col">columns</th>\
<th scope="col" class="number">items</th><th scope="col" class="number">in part</th>\
<th scope="col" class="number">share ≥ 0.5</th><th scope="col" class="number">share ≥ 0.8</th>\
<th scope="col" class="number">whole</th><th scope="col" class="number">too short</th></tr></thead>
<tbody>
{rows}</tbody>
</table></div>
{common}<div class="plots">
{plots}</div>
</section>
<section>
<h2>The most contaminated items</h2>
<p class="soft">{worst_heading}</p>
{worst}</section>
</main>
</body>
</html>"""
)
ROW = """\
<tr><th scope="row"><bdi>{name}</bdi></th><td class="soft"><bdi>{columns}</bdi></td>\
<td class="number">{items}</td><td class="number">{hit}</td><td class="number">{half}</td>\
<td class="number">{most}</td><td class="number"><b>{whole}</b></td>\
<td class="number">{too_short}</td></tr>
"""
COMMON = """\
<p class="soft">{text}</p>
<ul class="soft">
{items}</ul>
"""
ITEM = """\
<li><bdi>{text}</bdi></li>
"""
FIGURE = """\
<figure class="card">
<h3><bdi>{heading}</bdi></h3>
<div class="drawing">{svg}</div>
<figcaption>{text}</figcaption>
</figure>
"""
WORST = """\
<details class="card"{opened}>
<summary>{share} · <bdi class="id"><b>{benchmark} {item}</b></bdi> in <bdi class="id"><b>\
{document}</b></bdi> · <span class="soft">{words}{others}</span></summary>
<div class="diff">
<div class="row sides"><div>item</div><div>document</div></div>
<div class="row"><div class="text" dir="auto">{text}</div>
<div class="text" dir="auto">{before}<mark>{run}</mark>{after}</div></div>
</div>
</details>
"""
