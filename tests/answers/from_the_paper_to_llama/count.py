"""Lesson 16, my_count: what learners write."""

from tests.answers import edit, right, wrong

with right:

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        d = d_model // num_heads
        attention = d_model * (num_heads + 2 * num_kv_heads) * d + num_heads * d * d_model
        per_layer = attention + 3 * d_model * d_ff + 2 * d_model
        return num_layers * per_layer + d_model + 2 * vocabulary * d_model


with right:

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        w_q = w_o = d_model * d_model
        w_k = w_v = d_model * d_model * num_kv_heads // num_heads
        gate = up = down = d_model * d_ff
        norm = d_model
        total = vocabulary * d_model
        for _ in range(num_layers):
            total += w_q + w_k + w_v + w_o + gate + up + down + 2 * norm
        return total + norm + d_model * vocabulary


with wrong("as many heads as the queries"):

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        per_layer = 4 * d_model**2 + 3 * d_model * d_ff + 2 * d_model
        return num_layers * per_layer + d_model + 2 * vocabulary * d_model


edit("3 * d_model * d_ff", "2 * d_model * d_ff", "SwiGLU has three")

edit(" + d_model + 2 *", " + 2 *", "The last norm is missing")

edit("2 * vocabulary", "vocabulary", "they aren't tied")

edit(" + 2 * d_model\n", "\n", "The norms in the layers are missing")

edit("2 * num_kv_heads", "num_kv_heads", "Keys or values are missing")

with wrong("one feature for each head"):

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        attention = 2 * d_model * d_model + 2 * d_model * num_kv_heads
        per_layer = attention + 3 * d_model * d_ff + 2 * d_model
        return num_layers * per_layer + d_model + 2 * vocabulary * d_model


with wrong("You counted biases"):

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        d = d_model // num_heads
        attention = 2 * d_model * d_model + 2 * d_model * num_kv_heads * d + d_model * 2 + 2 * num_kv_heads * d
        return 2 * vocabulary * d_model + num_layers * (attention + 3 * d_model * d_ff + 2 * d_model) + d_model


with wrong("multiplied attention by the number of heads"):

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        d = d_model // num_heads
        attention = num_heads * (2 * d_model * d_model + 2 * d_model * num_kv_heads * d)
        return 2 * vocabulary * d_model + num_layers * (attention + 3 * d_model * d_ff + 2 * d_model) + d_model


with wrong("You took 2/3 of d_ff"):

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        keys = d_model // num_heads * num_kv_heads
        layer = 2 * d_model**2 + 2 * d_model * keys + 3 * d_model * (d_ff * 2 // 3) + 2 * d_model
        return 2 * vocabulary * d_model + num_layers * layer + d_model


with wrong("The vocabulary is missing"):

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        keys = d_model // num_heads * num_kv_heads
        layer = 2 * d_model**2 + 2 * d_model * keys + 3 * d_model * d_ff + 2 * d_model
        return num_layers * layer + d_model


with wrong("The last norm is in each of your layers"):

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        keys = d_model // num_heads * num_kv_heads
        layer = 2 * d_model**2 + 2 * d_model * keys + 3 * d_model * d_ff + 3 * d_model
        return 2 * vocabulary * d_model + num_layers * layer


edit("3 * d_model * d_ff", "3 * (d_model + 1) * d_ff", "3 × num_layers · d_ff (biases of gate and up) too many.")

edit("2 * vocabulary", "3 * vocabulary", "1 × vocabulary · d_model (the embedding, the output projection) too many.")

with wrong("2 × num_layers · d_model · num_kv_heads · head_dim (W_k, W_v) too few."):

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        per_layer = 4 * d_model**2 + 2 * d_model * d_ff + 2 * d_model
        return num_layers * per_layer + d_model + 2 * vocabulary * d_model


with wrong("/ gives a float, // a whole number"):

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        keys = num_kv_heads * d_model / num_heads
        per_layer = 2 * d_model**2 + 2 * d_model * keys + 3 * d_model * d_ff + 2 * d_model
        return num_layers * per_layer + d_model + 2 * vocabulary * d_model


with wrong("You counted biases in the linear layers"):

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        keys = num_kv_heads * d_model // num_heads
        attention = 2 * (d_model * d_model + d_model) + 2 * (d_model * keys + keys)
        feed_forward = 2 * (d_model * d_ff + d_ff) + d_ff * d_model + d_model
        per_layer = attention + feed_forward + 2 * d_model
        return num_layers * per_layer + d_model + 2 * vocabulary * d_model


with wrong("You counted biases in the feed-forward network"):

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        keys = num_kv_heads * d_model // num_heads
        attention = 2 * d_model * d_model + 2 * d_model * keys
        feed_forward = 2 * (d_model * d_ff + d_ff) + d_ff * d_model + d_model
        per_layer = attention + feed_forward + 2 * d_model
        return num_layers * per_layer + d_model + 2 * vocabulary * d_model


with wrong("by the number of heads of keys"):

    def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
        keys = d_model // num_kv_heads
        layer = 2 * d_model**2 + 2 * d_model * keys + 3 * d_model * d_ff + 2 * d_model
        return 2 * vocabulary * d_model + num_layers * layer + d_model
