"""The seeds run again, and what they did not measure: results, pictures and docs/seeds.md."""
