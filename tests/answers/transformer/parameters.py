"""Lesson 09, my_parameters: what learners write."""

from tests.answers import edit, right, wrong

with right:

    def my_parameters(d_model, d_ff, num_layers, vocab_size):
        attention = 4 * d_model * (d_model + 1)
        feed = d_ff * (d_model + 1) + d_model * (d_ff + 1)
        return num_layers * (3 * attention + 2 * feed + 10 * d_model) + vocab_size * (d_model + 1)


with right:

    def my_parameters(d_model, d_ff, num_layers, vocab_size):
        from lessons.layers import DecoderLayer, EncoderLayer

        layers = [EncoderLayer(d_model, 1, d_ff), DecoderLayer(d_model, 1, d_ff)]
        count = sum(p.numel() for layer in layers for p in layer.parameters())
        return num_layers * count + vocab_size * d_model + vocab_size


edit("3", "2", "*two* attentions")

edit("vocab_size * (d_model + 1)", "3 * vocab_size * d_model + vocab_size", "share one here")

edit("4", "3", "An attention has four matrices")

with wrong("The biases of the attentions and of the feed-forward networks are missing"):

    def my_parameters(d_model, d_ff, num_layers, vocab_size):
        return num_layers * (12 * d_model**2 + 4 * d_model * d_ff + 10 * d_model) + vocab_size * d_model


edit("3 * attention + 2 * feed + 10", "2 * attention + 2 * feed + 8", "like an encoder layer")


edit("vocab_size * (d_model + 1)", "vocab_size * d_model + d_model", "V numbers, not d_model")

edit("10 * d_model", "4 * d_model", "You counted one norm for each layer")


with wrong("only the large matrices are counted"):

    def my_parameters(d_model, d_ff, num_layers, vocab_size):
        return num_layers * (12 * d_model**2 + 4 * d_model * d_ff) + vocab_size * d_model


edit("num_layers * (3", "num_layers // 2 * (3", "You shared num_layers between the two sides")

with wrong("the other only one"):

    def my_parameters(d_model, d_ff, num_layers, vocab_size):
        attention, norm = 4 * (d_model**2 + d_model), 2 * d_model
        feed = 2 * d_model * d_ff + d_ff + d_model
        encoder, decoder = attention + feed + 2 * norm, 2 * attention + feed + 3 * norm
        return num_layers * encoder + decoder + vocab_size * (d_model + 1)


edit("attention = 4 * d_model * (d_model + 1)", "attention = 4 * d_model**2 + d_model", "4 · d_model numbers")

edit("2 * feed", "feed", "Only one side has its feed-forward networks")

edit("d_model * (d_ff + 1)", "d_model * d_ff", "Without the second one the sum is the same")


with wrong("You took 4 · d_model for d_ff"):

    def my_parameters(d_model, d_ff, num_layers, vocab_size):
        attention, feed = 4 * d_model**2 + 4 * d_model, 8 * d_model**2 + 5 * d_model
        return num_layers * (3 * attention + 2 * feed + 10 * d_model) + vocab_size * (d_model + 1)


with wrong("has d_model outputs"):

    def my_parameters(d_model, d_ff, num_layers, vocab_size):
        attention, feed = 4 * (d_model**2 + d_model), 2 * (d_model * d_ff + d_ff)
        return num_layers * (3 * attention + 2 * feed + 10 * d_model) + vocab_size * (d_model + 1)
