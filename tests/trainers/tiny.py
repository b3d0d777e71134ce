"""A language model of a few thousand weights, made here: trainers need one, and nothing is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def build(folder: Path) -> None:
    """Writes a random Qwen2 with a byte-level tokenizer of its own and the chat template that TRL trains with."""
    import torch
    import trl
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|pad|>"]
    tokens = Tokenizer(models.BPE(unk_token=None))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokens.train_from_iterator(
        ["fix the test", "assistant user tool"],
        trainers.BpeTrainer(vocab_size=400, special_tokens=marks, initial_alphabet=alphabet),
    )
    template = (Path(trl.__file__).parent / "chat_templates" / "qwen2_5_training.jinja").read_text(encoding="utf-8")
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokens, eos_token="<|im_end|>", pad_token="<|pad|>", chat_template=template
    )
    made.save_pretrained(folder)
    sizes: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    }
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(made),
        max_position_embeddings=4096,
        pad_token_id=made.pad_token_id,
        eos_token_id=made.eos_token_id,
        **sizes,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder)
