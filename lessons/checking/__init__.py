"""How an answer is checked: run it, compare it with the reference, and say in the learner's terms what is wrong."""
