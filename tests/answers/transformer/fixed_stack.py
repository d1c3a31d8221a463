"""Lesson 09, fixed_stack: what learners write."""

from torch import nn

from tests.answers import edit, right, wrong

with right:

    def fixed_stack(make_layer, num_layers):
        return nn.ModuleList([make_layer() for _ in range(num_layers)])


with right:

    def fixed_stack(make_layer, num_layers):
        import copy

        layer = make_layer()
        return nn.ModuleList(copy.deepcopy(layer) for _ in range(num_layers))


with right:

    def fixed_stack(make_layer, num_layers):
        layers = nn.Sequential()
        for _ in range(num_layers):
            layers.append(make_layer())
        return layers


with right:

    def fixed_stack(make_layer, num_layers):
        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(make_layer() for _ in range(num_layers))

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

        return Stack()


with wrong("The bug is still there"):

    def fixed_stack(make_layer, num_layers):
        layer = make_layer()
        return nn.ModuleList(layer for _ in range(num_layers))


with wrong("The bug is still there"):

    def fixed_stack(make_layer, num_layers):
        import copy

        return copy.deepcopy(nn.ModuleList([make_layer()] * num_layers))


edit(
    "nn.ModuleList([make_layer() for _ in range(num_layers)])",
    "[make_layer() for _ in range(num_layers)]",
    "in a plain list torch does not find them",
)


edit("make_layer() for _ in range(num_layers)]", "make_layer for _ in range(num_layers)]", "references to the function")


with wrong("in a plain list torch does not find them"):

    def fixed_stack(make_layer, num_layers):
        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [make_layer() for _ in range(num_layers)]

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

        return Stack()
