"""Plots as SVG and HTML, for the report page, notebooks and the pages of `neardup explore`.

Each function returns `Markup`, or None if there is nothing to draw. A page puts it into
`<div class="drawing">` and needs the rules of `report/look/base.css`: the SVG has classes instead
of colours, and neither styles nor scripts. The bytes are reproducible.

- `histograms`: similarities with near misses, distances, sizes of clusters, lengths
- `curves`: what a plan finds, and kept and removed documents by threshold
- `rates`: precision, recall and F1 by threshold, and precision by recall
- `seconds`: the stages of a run
- `matrix`: which source repeats which, as a table

`link` is a function that returns the address a bar leads to, given the first and the last value of
the bar. Bars without documents are no links. `name` distinguishes two plots of a kind on one page.
"""
