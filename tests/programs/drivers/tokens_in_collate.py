"""Text that a tokenizer of Hugging Face encodes in collate_fn. No workers, a GPU step of 25 ms."""
import random
import time

import torch
import training
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch.utils.data import DataLoader


def make(folder):
    words = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(2, 10))) for _ in range(5000)]
    texts = [" ".join(random.choices(words, k=400)) for _ in range(1024)]
    (folder / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    tokenizer = Tokenizer(models.BPE(unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(texts[:100], trainers.BpeTrainer(vocab_size=2000, special_tokens=["?", "[PAD]"]))
    tokenizer.save(str(folder / "tokenizer.json"))


flags = training.parse(batch_size=64)
folder = training.folder(flags, make)
tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.enable_padding(pad_id=1, pad_token="[PAD]")
tokenizer.enable_truncation(512)


def collate(texts):
    encoded = tokenizer.encode_batch(texts)
    return torch.tensor([one.ids for one in encoded]), torch.tensor([one.attention_mask for one in encoded])


texts = (folder / "texts.txt").read_text(encoding="utf-8").splitlines()
loader = DataLoader(texts, shuffle=True, drop_last=True, collate_fn=collate, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for ids, mask in loader:
        time.sleep(0.025)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
