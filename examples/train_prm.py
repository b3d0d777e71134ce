"""Train a process reward model on an exported data set: a classifier of the token that ends each step.

    python train_prm.py DATA_SET MODEL OUT [STEPS]

DATA_SET is a folder of `potato-bridge export -f prm`, MODEL a name or a folder. TRL has no trainer for this since 1.14.
"""

import sys

import torch
from datasets import load_dataset
from torch.nn.functional import cross_entropy
from transformers import AutoModelForTokenClassification, AutoTokenizer

IGNORED = -100
MAX_TOKENS = 4096


def tokens_of(row, tokenizer):
    """The tokens of the prompt and its steps, and a label at the last token of each step: 1 is right, 0 is wrong."""
    tokens = tokenizer(row["prompt"] + "\n")["input_ids"]
    labels = [IGNORED] * len(tokens)
    for text, label in zip(row["completions"], row["labels"], strict=True):
        step = tokenizer(text + "\n", add_special_tokens=False)["input_ids"]
        tokens += step
        labels += [IGNORED] * (len(step) - 1) + [int(label)]
    # A step that is cut off has no label; a row without labels would train nothing.
    return tokens[:MAX_TOKENS], labels[:MAX_TOKENS]


def train(data_set, name, out, steps):
    """One row a step, on the CPU or the GPU; prints the loss."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForTokenClassification.from_pretrained(name, num_labels=2).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    rows = [tokens_of(row, tokenizer) for row in load_dataset(data_set, "prm", split="train")]
    rows = [(tokens, labels) for tokens, labels in rows if any(label != IGNORED for label in labels)]
    for step in range(steps):
        tokens, labels = (torch.tensor([part], device=device) for part in rows[step % len(rows)])
        loss = cross_entropy(model(input_ids=tokens).logits[0], labels[0], ignore_index=IGNORED)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step + 1}: loss {loss.item():.4f}")
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


if __name__ == "__main__":
    train(*sys.argv[1:4], int(sys.argv[4]) if len(sys.argv) > 4 else 1000)
