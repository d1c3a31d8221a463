"""Lesson 11, my_rate: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_rate(step, steps, peak, warmup, decay):
        return peak * min(1, step / warmup, (steps - step) / decay)


with right:

    def my_rate(step, steps, peak, warmup, decay):
        if step < warmup:
            return peak * step / warmup
        if step <= steps - decay:
            return peak
        return peak * (1 - (step - (steps - decay)) / decay)


with right:

    def my_rate(step, steps, peak, warmup, decay):
        up = torch.tensor(step / warmup).clamp(max=1)
        down = torch.tensor((steps - step) / decay).clamp(max=1)
        return peak * up * down


edit("min(1, ", "min(", "rises above the peak")

edit("step / warmup, ", "", "There is no warm-up")

edit("min", "max", "Each is a limit")

edit("peak * ", "", "Multiply by the peak")

edit("steps - step", "steps + 1 - step", "one step late")

edit(
    "return peak * min(1, step / warmup, (steps - step) / decay)",
    "print(peak * min(1, step / warmup, (steps - step) / decay))",
    "does your function end with `return`",
)

with wrong("end of the warm-up on"):

    def my_rate(step, steps, peak, warmup, decay):
        if step < warmup:
            return peak * step / warmup
        return peak * (steps - step) / (steps - warmup)


with wrong("how many steps the fall takes"):

    def my_rate(step, steps, peak, warmup, decay):
        if step < warmup:
            return peak * step / warmup
        if step < decay:
            return peak
        return peak * min(1, (steps - step) / (steps - decay))


with wrong("yours has the rate 0"):

    def my_rate(step, steps, peak, warmup, decay):
        if step < warmup:
            return peak * (step - 1) / warmup
        return peak * min(1, (steps - step) / decay)


with wrong("yours has the rate 0"):

    def my_rate(step, steps, peak, warmup, decay):
        if step < warmup:
            return peak * (step - 1) / (warmup - 1)
        return peak * min(1, (steps - step) / decay)


with wrong("the rate rises again"):

    def my_rate(step, steps, peak, warmup, decay):
        if step < warmup:
            return peak * step / warmup
        if step <= steps - decay:
            return peak
        return peak * (step - (steps - decay)) / decay


with wrong("how many steps the fall takes"):

    def my_rate(step, steps, peak, warmup, decay):
        if step <= warmup:
            return peak * step / warmup
        if step <= decay:
            return peak
        return peak * (steps - step) / (steps - decay)


edit("(steps - step)", "(steps - step - 1)", "one step early")

with wrong("multiply it by the peak, too"):

    def my_rate(step, steps, peak, warmup, decay):
        if step < warmup:
            return peak * step / warmup
        if step <= steps - decay:
            return peak
        return (steps - step) / decay


with wrong("The fall begins with a jump"):

    def my_rate(step, steps, peak, warmup, decay):
        if step < warmup:
            return peak * step / warmup
        if step > steps - decay:
            return peak * (steps - step) / (steps - warmup)
        return peak


edit("steps - decay:", "decay:", "how many steps the fall takes", of=1)

edit("step <= steps - decay", "step <= warmup + decay", "The plateau takes `decay` steps", of=1)

edit("peak * (1 - (step - (steps - decay)) / decay)", "0.0", "the rate is 0 at once", of=1)

edit("peak * (1 - (step - (steps - decay)) / decay)", "peak * (1 - step / decay)", "as if it had begun at step 0", of=1)

edit("peak * step / warmup", "step / warmup", "The warm-up ends at 1", of=1)

edit("step / warmup\n", "step / steps\n", "The warm-up divides by the number of all steps", of=1)

edit(
    "(1 - (step - (steps - decay)) / decay)",
    "0.5 ** ((step - steps + decay) / decay)",
    "The fall differs in 3 of 3 steps, first at step 8",
    of=1,
)


with wrong("First comes the plateau"):

    def my_rate(step, steps, peak, warmup, decay):
        if step <= warmup:
            return peak * step / warmup
        elif step <= warmup + decay:
            return peak * (warmup + decay - step) / decay
        return 0.0


with wrong("None: the list of rates is None"):

    def my_rate(step, steps, peak, warmup, decay):
        if step <= warmup:
            return peak * step / warmup
        if step > steps - decay:
            return peak * (steps - step) / decay


with wrong("rises again"):

    def my_rate(step, steps, peak, warmup, decay):
        start = steps - decay
        if step >= start:
            return peak * (step - start) / decay
        return peak * min(1, step / warmup)


with wrong("one that takes more than"):

    def my_rate(step, steps, peak, warmup, decay):
        if step < warmup:
            return peak * step / warmup
        if step < steps - decay:
            return peak
        return peak * (1 - (step - warmup) / (steps - warmup))
