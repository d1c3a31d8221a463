"""Lesson 08, my_three_parts: what learners write."""

from tests.answers import edit, right, wrong

with right:

    def my_three_parts(x, memory, parts, norms, norm_first):
        calls = [parts[0], lambda y: parts[1](y, memory), parts[2]]
        for number, (call, norm) in enumerate(zip(calls, norms)):
            if number == 1 and memory is None:
                continue
            x = x + call(norm(x)) if norm_first else norm(x + call(x))
        return x


with right:

    def my_three_parts(x, memory, parts, norms, norm_first):
        look, ask, feed = parts
        a, b, c = norms
        if norm_first:
            x = look(a(x)) + x
            x = ask(b(x), memory) + x if memory is not None else x
            x = feed(c(x)) + x
        else:
            x = a(look(x) + x)
            x = b(ask(x, memory) + x) if memory is not None else x
            x = c(feed(x) + x)
        return x


with wrong("in place of the memory"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        look, ask, feed = parts
        for call, norm in zip([look, lambda y: ask(y, y), feed], norms):
            x = x + call(norm(x)) if norm_first else norm(x + call(x))
        return x


with wrong("norm_first=False is ignored"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        look, ask, feed = parts
        a, b, c = norms
        x = x + look(a(x))
        x = x + ask(b(x), memory)
        return x + feed(c(x))


with wrong("you added norm(x)"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        look, ask, feed = parts
        for call, norm in zip([look, lambda y: ask(y, memory), feed], norms):
            if norm_first:
                x = norm(x)
                x = x + call(x)
            else:
                x = norm(x + call(x))
        return x


with wrong("You normalized the output of a sublayer"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        look, ask, feed = parts
        for call, norm in zip([look, lambda y: ask(y, memory), feed], norms):
            x = x + call(norm(x)) if norm_first else x + norm(call(x))
        return x


with wrong("in the wrong order"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        calls = [parts[0], lambda y: parts[1](memory, y), parts[2]]
        for call, norm in zip(calls, norms):
            x = x + call(norm(x)) if norm_first else norm(x + call(x))
        return x


with wrong("You added the x that came in"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        start = x
        calls = [parts[0], lambda y: parts[1](y, memory), parts[2]]
        for call, norm in zip(calls, norms):
            x = start + call(norm(x)) if norm_first else norm(start + call(x))
        return x


with wrong("around the feed-forward network is missing"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        look, ask, feed = parts
        a, b, c = norms
        if norm_first:
            x = x + look(a(x))
            x = x + ask(b(x), memory)
            return x + feed(c(x))
        x = a(x + look(x))
        x = b(x + ask(x, memory))
        return c(feed(x))


edit("number == 1 and memory is None", "False", "there is no source to attend to")

with wrong("you still use the second norm"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        look, ask, feed = parts
        a, b, c = norms
        none = memory is None
        if norm_first:
            x = x + look(a(x))
            x = x + (0 if none else ask(b(x), memory))
            return x + feed(c(x))
        x = a(x + look(x))
        x = b(x + (0 if none else ask(x, memory)))
        return c(x + feed(x))


with wrong("got the norm of cross-attention"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        calls = [parts[0], lambda y: parts[1](y, memory), parts[2]]
        if memory is None:
            calls = [parts[0], parts[2]]
        for call, norm in zip(calls, norms):
            x = x + call(norm(x)) if norm_first else norm(x + call(x))
        return x


with wrong("cross-attention is still called"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        look, ask, feed = parts
        a, b, c = norms
        if norm_first:
            x = x + look(a(x))
            if memory is not None:
                x = x + ask(b(x), memory)
            return x + feed(c(x))
        x = a(x + look(x))
        x = b(x + ask(x, memory))
        return c(x + feed(x))


with wrong("attend to x a second time"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        calls = [parts[0], lambda y: parts[1](y, memory if memory is not None else x), parts[2]]
        for call, norm in zip(calls, norms):
            x = x + call(norm(x)) if norm_first else norm(x + call(x))
        return x


with wrong("the feed-forward network is left out, too"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        calls = [parts[0], lambda y: parts[1](y, memory), parts[2]]
        for call, norm in zip(calls, norms):
            x = x + call(norm(x)) if norm_first else norm(x + call(x))
            if memory is None:
                break
        return x


with wrong("which torch refuses"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        look, ask, feed = parts
        a, b, c = norms
        x = x + look(a(x)) if norm_first else a(x + look(x))
        if memory:
            x = x + ask(b(x), memory) if norm_first else b(x + ask(x, memory))
        return x + feed(c(x)) if norm_first else c(x + feed(x))


with wrong("Cross-attention came first"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        calls = [(lambda y: parts[1](y, memory), norms[1]), (parts[0], norms[0]), (parts[2], norms[2])]
        for call, norm in calls if memory is not None else calls[1:]:
            x = x + call(norm(x)) if norm_first else norm(x + call(x))
        return x


edit("ask(b(x), memory)", "ask(x, memory)", "got x without its norm", of=1)

with wrong("which torch refuses"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        look, ask, feed = parts
        a, b, c = norms
        if norm_first:
            x = x + look(a(x))
            if memory:
                x = x + ask(b(x), memory)
            return x + feed(c(x))
        x = a(x + look(x))
        x = b(x + ask(x, memory)) if memory is not None else x
        return c(x + feed(x))


edit(
    "b(ask(x, memory) + x) if memory is not None else x",
    "b(ask(x, memory if memory is not None else x) + x)",
    "attend to x a second time",
    of=1,
)


with wrong("a return or an else is missing"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        look, ask, feed = parts
        a, b, c = norms
        if norm_first:
            x = x + look(a(x))
            x = x + ask(b(x), memory) if memory is not None else x
            x = x + feed(c(x))
        x = a(x + look(x))
        x = b(x + ask(x, memory)) if memory is not None else x
        return c(x + feed(x))


edit("a, b, c = norms", "a, c, b = norms", "The second and the third norm are swapped", of=1)


with wrong("The sublayers work in parallel"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        look, ask, feed = parts
        a, b, c = norms
        if norm_first:
            if memory is None:
                return x + look(a(x)) + feed(c(x))
            return x + look(a(x)) + ask(b(x), memory) + feed(c(x))
        x = a(x + look(x))
        x = b(x + ask(x, memory)) if memory is not None else x
        return c(x + feed(x))


with wrong("cross_attention takes two arguments"):

    def my_three_parts(x, memory, parts, norms, norm_first):
        for part, norm in zip(parts, norms):
            x = x + part(norm(x)) if norm_first else norm(x + part(x))
        return x
