"""Constants of DecodingExplorer, shared by Python and JavaScript."""

from lessons.wording import marked

METHODS = GREEDY, BEAM, SAMPLING = (marked("greedy"), marked("beam"), marked("sampling"))
LIMITS = {"temperature": (0.1, 3.0), "top_p": (0.01, 1.0), "length_penalty": (0.0, 2.0)}
MAX_WIDTH = 5
TOP = 10  # candidates that are drawn
DECIDES = ("method", "temperature", "top_k", "top_p", "seed", "chosen")  # the traits that decide the next token
