"""The catalogue as the team's tools take it: JSON, YAML, Python, TypeScript."""
