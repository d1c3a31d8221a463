"""How an answer is judged: run, compared with the reference, and told in the learner's terms what is wrong."""
