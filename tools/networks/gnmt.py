"""GNMT with 8 and 8 layers of 1024 (arXiv 1609.08144, sizes of the MLPerf training reference), at one length."""

from __future__ import annotations

import torch
from torch import nn

VOCABULARY = 32_317
WIDTH = 1024
LAYERS = 8


class Encoder(nn.Module):
    """One layer in both directions, then one after another, from the third on with inputs added to outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.both = nn.LSTM(WIDTH, WIDTH, bidirectional=True)
        self.layers = nn.ModuleList([nn.LSTM(2 * WIDTH, WIDTH), *(nn.LSTM(WIDTH, WIDTH) for _ in range(LAYERS - 2))])
        self.dropout = nn.Dropout(0.2)

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """States of all words."""
        data = self.layers[0](self.dropout(self.both(self.dropout(data))[0]))[0]
        for layer in self.layers[1:]:
            data = layer(self.dropout(data))[0] + data
        return data


class Attention(nn.Module):
    """Normalised attention of Bahdanau."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.keys = nn.Linear(WIDTH, WIDTH, bias=False)
        self.align = nn.Parameter(torch.empty(WIDTH))
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
        self.first = nn.LSTM(WIDTH, WIDTH)
        self.attention = Attention()
        self.layers = nn.ModuleList(nn.LSTM(2 * WIDTH, WIDTH) for _ in range(LAYERS - 1))
        self.dropout = nn.Dropout(0.2)

    def forward(self, data: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """Outputs of all words."""
        data = self.first(self.dropout(data))[0]
        context = self.attention(data, states)
        data = self.layers[0](torch.cat((self.dropout(data), context), dim=2))[0]
        for layer in self.layers[1:]:
            data = layer(torch.cat((self.dropout(data), context), dim=2))[0] + data
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
