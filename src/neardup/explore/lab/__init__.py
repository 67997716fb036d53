"""The laboratory: four experiments that need no run, each a function of the fields of a form.

- `texts`: two texts, their features and the bits of their fingerprints
- `curve`: what plans find, by similarity
- `hashes`: how evenly hash families fill a table
- `sphere`: vectors that settle on a sphere

The work of each is bounded, whatever is asked; the command line has no such bounds.
"""
