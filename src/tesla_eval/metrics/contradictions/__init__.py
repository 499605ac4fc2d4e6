"""What makes two texts contradict each other: a negation, a number, an antonym, exchanged roles (specification §13)."""
