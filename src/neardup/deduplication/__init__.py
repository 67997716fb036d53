"""The main job: find near-duplicates, keep one of each, and save the proof."""
