"""How pages begin that stand alone: no script, nothing loaded, light or dark."""

from __future__ import annotations

PAGE_HEAD = """\
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
<body class="report">
<header>
<h1><bdi>{title}</bdi></h1>
<p class="headline">{headline}</p>
"""
