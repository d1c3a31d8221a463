"""Lesson 01, my_output: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_output(weights, v):
        return torch.matmul(weights, v)


with right:

    def my_output(weights, v):
        rows = []
        for row in weights:
            rows.append(sum(w * value for w, value in zip(row, v)))
        return torch.stack(rows)


with right:

    def my_output(weights, v):
        return torch.einsum("qk,kd->qd", weights, v)


edit("torch.matmul(weights, v)", "weights.transpose(0, 1) @ v", "You mixed along the columns")

edit("torch.matmul(weights, v)", "weights @ v + 1e-3", "Values: the result differs")

with wrong("Only the last key counts"):

    def my_output(weights, v):
        output = torch.zeros(len(weights), v.size(1))
        for i in range(len(weights)):
            for j in range(len(v)):
                output[i] = weights[i, j] * v[j]
        return output


with wrong("weights[i, j] * v[j], summed over j"):

    def my_output(weights, v):
        output = torch.zeros(len(weights), v.size(1))
        for i in range(len(weights)):
            for j in range(len(v)):
                output[i] += weights[i, j] * v[i]
        return output


with wrong("the output of the first query alone"):

    def my_output(weights, v):
        for row in weights:
            return row @ v


edit("torch.matmul(weights, v)", "(weights[:, :, None] * v).sum(dim=-1)", "You summed over the features")

edit("torch.matmul(weights, v)", "weights[:, :, None] * v", "Add them up over the keys")

edit("torch.matmul(weights, v)", "(weights[:, :, None] * v).sum(0)", "You added up over the queries")
