"""GNMT with 8 and 8 layers of 1024 (arXiv 1609.08144, sizes of the MLPerf training reference), at one length."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

VOCABULARY = 32_317
WIDTH = 1024
LAYERS = 8


class Recurrence(torch.autograd.Function):  # type: ignore[misc]
    """What an LSTM does word by word, with as many products as libraries of GPUs have.

    The gradient of the weights is one product over all words at the end, and not one for each word added to the last.
    """

    @staticmethod
    def forward(ctx: Any, fed: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Outputs, [words, samples, width], of gates that are `fed` inputs, [words, samples, 4 widths].

        Gates stand side by side: what is let in, kept and let out, then what is new.
        """
        words, samples, gates = fed.shape
        width = gates // 4
        acts = torch.empty_like(fed)
        cells, outputs = fed.new_empty(words, samples, width), fed.new_empty(words, samples, width)
        cell = output = fed.new_zeros(samples, width)
        for word in range(words):
            torch.addmm(fed[word], output, weight.t(), out=acts[word])
            acts[word, :, : 3 * width].sigmoid_()
            acts[word, :, 3 * width :].tanh_()
            let_in, kept, let_out, new = acts[word].chunk(4, dim=1)
            cell = torch.addcmul(kept * cell, let_in, new, out=cells[word])
            output = torch.mul(let_out, cell.tanh(), out=outputs[word])
        ctx.save_for_backward(weight, acts, cells, outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, of_outputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradients of what was fed and of the weights."""
        weight, acts, cells, outputs = ctx.saved_tensors
        words, samples, width = cells.shape
        of_fed = torch.empty_like(acts)
        of_output = of_cell = cells.new_zeros(samples, width)
        for word in reversed(range(words)):
            let_in, kept, let_out, new = acts[word].chunk(4, dim=1)
            of_output = of_outputs[word] + of_output
            shown = cells[word].tanh()
            of_cell = torch.addcmul(of_cell, of_output * let_out, 1 - shown * shown)
            before = cells[word - 1] if word else torch.zeros_like(of_cell)
            to_in, to_kept, to_out, to_new = of_fed[word].chunk(4, dim=1)
            torch.mul(of_cell * new, let_in * (1 - let_in), out=to_in)
            torch.mul(of_cell * before, kept * (1 - kept), out=to_kept)
            torch.mul(of_output * shown, let_out * (1 - let_out), out=to_out)
            torch.mul(of_cell * let_in, 1 - new * new, out=to_new)
            of_cell = of_cell * kept
            of_output = of_fed[word].mm(weight)
        return of_fed, of_fed[1:].flatten(0, 1).t().mm(outputs[:-1].flatten(0, 1))


class Lstm(nn.Module):
    """A layer in one direction: all inputs in one product, then word by word."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.feed = nn.Linear(inputs, 4 * WIDTH)
        self.weight = nn.Parameter(torch.zeros(4 * WIDTH, WIDTH))

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """Outputs of all words, [words, samples, width]."""
        return Recurrence.apply(self.feed(data), self.weight)


class Encoder(nn.Module):
    """One layer in both directions, then one after another, from the third on with inputs added to outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.there, self.back = Lstm(WIDTH), Lstm(WIDTH)
        self.layers = nn.ModuleList([Lstm(2 * WIDTH), *(Lstm(WIDTH) for _ in range(LAYERS - 2))])
        self.dropout = nn.Dropout(0.2)

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """States of all words."""
        data = self.dropout(data)
        data = torch.cat((self.there(data), self.back(data.flip(0)).flip(0)), dim=2)
        data = self.layers[0](self.dropout(data))
        for layer in self.layers[1:]:
            data = layer(self.dropout(data)) + data
        return data


class Attention(nn.Module):
    """Normalised attention of Bahdanau."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.keys = nn.Linear(WIDTH, WIDTH, bias=False)
        self.align = nn.Parameter(torch.ones(WIDTH))
        self.scale = nn.Parameter(torch.ones(1))
        self.bias = nn.Parameter(torch.zeros(WIDTH))

    def forward(self, queries: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """For each query, states weighted by how well they fit."""
        # [samples, queries, states, width]
        queries, states = queries.transpose(0, 1), states.transpose(0, 1)
        fits = torch.tanh(self.query(queries)[:, :, None] + self.keys(states)[:, None] + self.bias)
        weights = torch.softmax(fits.matmul(self.align / self.align.norm() * self.scale), dim=-1)
        return torch.bmm(weights, states).transpose(0, 1)


class Decoder(nn.Module):
    """A first layer that asks the attention, and others that are given what it says."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Lstm(WIDTH)
        self.attention = Attention()
        self.layers = nn.ModuleList(Lstm(2 * WIDTH) for _ in range(LAYERS - 1))
        self.dropout = nn.Dropout(0.2)

    def forward(self, data: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """Outputs of all words."""
        data = self.first(self.dropout(data))
        context = self.attention(data, states)
        data = self.layers[0](torch.cat((self.dropout(data), context), dim=2))
        for layer in self.layers[1:]:
            data = layer(torch.cat((self.dropout(data), context), dim=2)) + data
        return data


class Gnmt(nn.Module):
    """Encoder, decoder and classifier with one embedding for both languages."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.encoder = Encoder()
        self.decoder = Decoder()
        self.classifier = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Scores of all words, [words, classes]."""
        states = self.encoder(self.embedding(source))
        return self.classifier(self.decoder(self.embedding(target), states)).flatten(0, 1)


def gnmt16() -> nn.Module:
    """Sixteen layers."""
    return Gnmt()
