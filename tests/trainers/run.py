"""Trains two steps on exported data sets, and tells what the trainers saw. Runs in the environment of the trainers.

    python run.py FOLDER

FOLDER has a data set for each target. What is printed: of each target its trainer's rows, decoded again, and the loss.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", CUDA_VISIBLE_DEVICES="")

import datasets
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer
from trl import DPOConfig, DPOTrainer, KTOConfig, KTOTrainer, RewardConfig, RewardTrainer, SFTConfig, SFTTrainer

HERE = Path(__file__).resolve().parent
#: Columns of the trainers' own rows that are tokens.
TOKENS = ("prompt_ids", "chosen_ids", "rejected_ids", "completion_ids", "input_ids")


def load(name: str, path: Path) -> Any:
    """A module by its file: this environment has no `tests` and no `potato_bridge`."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(folder: Path) -> None:
    """Prints one JSON object."""
    datasets.disable_progress_bars()
    model = folder / "tiny"
    load("tiny", HERE / "tiny.py").build(model)
    tokenizer = AutoTokenizer.from_pretrained(model)

    def common(**more: Any) -> dict[str, Any]:
        return {
            "max_steps": 2,
            "per_device_train_batch_size": 2,
            "report_to": [],
            "use_cpu": True,
            "bf16": False,
            "save_strategy": "no",
            "disable_tqdm": True,
            "output_dir": tempfile.mkdtemp(dir=folder),
            **more,
        }

    def rows(target: str) -> Any:
        return datasets.load_dataset(str(folder / target), target, split="train", cache_dir=str(folder / "cache"))

    def seen(trainer: Any) -> dict[str, Any]:
        found = []
        for row in trainer.train_dataset:
            one = {name: tokenizer.decode(row[name]) for name in TOKENS if name in row}
            if "labels" in row:
                # What is a target, each run of it by itself.
                runs: list[list[int]] = [[]]
                for token, label in zip(row["input_ids"], row["labels"], strict=True):
                    if label == -100:
                        runs.append([])
                    else:
                        runs[-1].append(token)
                one["trained"] = [tokenizer.decode(run) for run in runs if run]
            found.append(one | {name: row[name] for name in ("label", "margin") if name in row})
        loss = trainer.train().training_loss
        return {"rows": found, "trains": math.isfinite(loss)}

    def language_model() -> Any:
        return AutoModelForCausalLM.from_pretrained(model)

    def ranker() -> Any:
        return AutoModelForSequenceClassification.from_pretrained(model, num_labels=1)

    made: dict[str, Any] = {}
    given: dict[str, Any] = {"processing_class": tokenizer}
    sft = SFTConfig(**common(assistant_only_loss=True))
    made["sft"] = seen(SFTTrainer(model=language_model(), args=sft, train_dataset=rows("sft"), **given))
    dpo = DPOConfig(**common())
    for name in ("dpo", "dpo_steps"):
        found = datasets.load_dataset(str(folder / name), "dpo", split="train", cache_dir=str(folder / "cache"))
        made[name] = seen(DPOTrainer(model=language_model(), args=dpo, train_dataset=found, **given))
    kto = KTOConfig(**common())
    made["kto"] = seen(KTOTrainer(model=language_model(), args=kto, train_dataset=rows("kto"), **given))
    reward = RewardConfig(**common())
    made["reward"] = seen(RewardTrainer(model=ranker(), args=reward, train_dataset=rows("reward"), **given))
    prm = load("train_prm", HERE.parents[1] / "examples" / "train_prm.py")
    labelled = []
    for row in rows("prm"):
        tokens, labels = prm.tokens_of(row, tokenizer)
        ends = [place for place, label in enumerate(labels) if label != prm.IGNORED]
        starts = [0, *(end + 1 for end in ends)]
        labelled.append(
            [[tokenizer.decode(tokens[start : end + 1]), labels[end]] for start, end in zip(starts, ends, strict=False)]
        )
    made["prm"] = {"rows": labelled}
    print(json.dumps(made))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
