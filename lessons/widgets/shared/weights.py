"""A model as the browser takes it: readModel in engine.js reads what `pack` returns."""

from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from lessons.language_model import LanguageModel
from lessons.transformer import Transformer


def pack(model: Transformer | LanguageModel) -> tuple[dict[str, Any], bytes]:
    """The model in the types of JSON, and its numbers in bytes.

    {"config": all options, and what follows from them, "index": {name in the state: [place of its first number,
    *shape]}}. The numbers are float16 where that changes none of them, else float32. A tied matrix is packed once.
    """
    index: dict[str, list[int]] = {}
    begins: dict[tuple[int, torch.Size], int] = {}
    parts: list[Tensor] = []
    length = 0
    for name, x in model.state_dict().items():
        same = x.data_ptr(), x.shape
        if same not in begins:
            begins[same] = length
            length += x.numel()
            parts.append(x.cpu().float().flatten())
        index[name] = [begins[same], *x.shape]
    numbers = torch.cat(parts)
    half = numbers.half()
    fits = torch.equal(half.float(), numbers)
    if isinstance(model, LanguageModel):
        follows = {"kv_heads": model.config.kv_heads, "head_size": model.config.head_size}
    else:
        follows = {"decoder_depth": model.config.decoder_depth, "ends_in_norm": model.config.ends_in_norm}
    config = asdict(model.config) | follows | {"dtype": "float16" if fits else "float32"}
    return {"config": config, "index": index}, (half if fits else numbers).numpy().tobytes()
