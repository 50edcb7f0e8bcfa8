"""How a model gets its scores: items → prompts → answers → scores → result."""
