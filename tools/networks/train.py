"""Trains a network for two steps, to record the second: `octavo trace torch train.py resnet50 {batch} --batch 128`."""

from __future__ import annotations

import sys

import gnmt
import torch
import vision
from torch import nn

WORDS = 25
"""Words of a sentence of GNMT: about the mean of WMT'16 English-German."""


def main() -> None:
    """Arguments: the network, samples of a batch."""
    name, batch = sys.argv[1], int(sys.argv[2])
    model = (getattr(vision, name, None) or getattr(gnmt, name))().train()
    if name == "gnmt16":
        # Sizes alone: a step on a processor takes minutes.
        model = model.to("meta")
        data = tuple(torch.zeros(WORDS, batch, dtype=torch.long, device="meta") for _ in range(2))
        labels = torch.zeros(WORDS * batch, dtype=torch.long, device="meta")
        optimizer: torch.optim.Optimizer = torch.optim.Adam(model.parameters())
    else:
        data = (torch.zeros(batch, 3, 224, 224),)
        labels = torch.zeros(batch, dtype=torch.long)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    loss = nn.CrossEntropyLoss()
    for _ in range(2):
        optimizer.zero_grad(set_to_none=True)
        loss(model(*data), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
