"""The main job: from a pile of documents to a clean one, with the proof."""
