"""FunctionLab: the learner's function next to the reference."""
