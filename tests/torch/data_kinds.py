"""Data sets as people have them, each a function: data_kinds.py NAME [WORKERS]. What each prints last is a line of
JSON: how many batches it gave, and what else is known of them."""

import io
import json
import os
import random
import sys
import tarfile
import tempfile
import time

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, TensorDataset


def take_all(loader, epochs=2, **known):
    batches = 0
    for _ in range(epochs):
        for _ in loader:
            batches += 1
    print(json.dumps({"batches": batches, **known}), flush=True)


def sentence(index):
    words = random.Random(index)
    return " ".join(words.choice(("gradient", "loader", "of", "the", "epoch")) for _ in range(words.randint(20, 400)))


class Tokenizer:
    """One of the program's own, in plain Python."""

    def __init__(self):
        self.numbers = {}

    def __call__(self, text):
        return [self.numbers.setdefault(word[:3], len(self.numbers) + 1) for word in text.split()]


class Text(Dataset):
    def __init__(self, tokenize):
        self.tokenize = tokenize

    def __len__(self):
        return 240

    def __getitem__(self, index):
        return {"input_ids": torch.tensor(self.tokenize(sentence(index))), "text": sentence(index)}


def padded(samples):
    ids = [sample["input_ids"] for sample in samples]
    return {"input_ids": pad_sequence(ids, batch_first=True), "lengths": torch.tensor([len(one) for one in ids])}


def text(workers):
    take_all(DataLoader(Text(Tokenizer()), batch_size=8, num_workers=workers, collate_fn=padded))


def tokenizers(workers):
    from tokenizers import Tokenizer, models, pre_tokenizers

    names = {"[UNK]": 0, "gradient": 1, "loader": 2, "the": 3, "epoch": 4}
    tokenizer = Tokenizer(models.WordLevel(names, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    dataset = Text(lambda words: tokenizer.encode(words).ids)
    take_all(DataLoader(dataset, batch_size=8, num_workers=workers, collate_fn=padded))


def write_parquet(folder):
    import pyarrow
    import pyarrow.parquet

    path = os.path.join(folder, "train.parquet")
    texts = [sentence(index) for index in range(1600)]
    pyarrow.parquet.write_table(pyarrow.table({"text": texts, "label": list(range(1600))}), path, row_group_size=100,
                                compression="NONE")
    return path


class RowGroups(Dataset):
    """A sample is a group of rows."""

    def __init__(self, path):
        import pyarrow.parquet

        self.path, self.file = path, None
        self.groups = pyarrow.parquet.ParquetFile(path).num_row_groups

    def __len__(self):
        return self.groups

    def __getitem__(self, index):
        import pyarrow.parquet

        if self.file is None:
            self.file = pyarrow.parquet.ParquetFile(self.path)
        table = self.file.read_row_group(index)
        return torch.tensor(table["label"].to_numpy())


def parquet(workers):
    with tempfile.TemporaryDirectory() as folder:
        path = write_parquet(folder)
        take_all(DataLoader(RowGroups(path), batch_size=2, num_workers=workers), epochs=4,
                 bytes=os.path.getsize(path))


class Memory(Dataset):
    """An Arrow table in a file that is mapped, as the `datasets` package has it."""

    def __init__(self, path):
        self.path, self.table = path, None

    def __len__(self):
        return 1600

    def __getitem__(self, index):
        import pyarrow

        if self.table is None:
            self.table = pyarrow.ipc.open_file(pyarrow.memory_map(self.path)).read_all()
        row = self.table.slice(index, 1).to_pydict()
        return len(row["text"][0]), row["label"][0]


def arrow(workers):
    import pyarrow

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.arrow")
        table = pyarrow.table({"text": [sentence(index) for index in range(1600)], "label": list(range(1600))})
        with pyarrow.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
        take_all(DataLoader(Memory(path), batch_size=32, num_workers=workers))


class Pages(Dataset):
    """Bytes that pyarrow reads from a file of its own kind."""

    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 200

    def __getitem__(self, index):
        from pyarrow import fs

        with fs.LocalFileSystem().open_input_file(self.path) as file:
            return torch.frombuffer(bytearray(file.read_at(1000, index * 1000)), dtype=torch.uint8)


def arrow_files(workers):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pages")
        with open(path, "wb") as file:
            file.write(bytes(200_000))
        take_all(DataLoader(Pages(path), batch_size=8, num_workers=workers))


def write_shards(folder):
    for number in range(4):
        with tarfile.open(os.path.join(folder, f"{number}.tar"), "w") as shard:
            for index in range(120):
                text = sentence(120 * number + index).encode()
                entry = tarfile.TarInfo(f"{number}{index:04}.txt")
                entry.size = len(text)
                shard.addfile(entry, io.BytesIO(text))


def numbered(text):
    time.sleep(0.002)
    return torch.tensor([len(text)])


def web_batches(workers):
    """The batches are webdataset's own."""
    import webdataset

    with tempfile.TemporaryDirectory() as folder:
        write_shards(folder)
        shards = [os.path.join(folder, f"{number}.tar") for number in range(4)]
        data = webdataset.WebDataset(shards, shardshuffle=False).to_tuple("txt").map_tuple(numbered).batched(8)
        take_all(DataLoader(data, batch_size=None, num_workers=workers, persistent_workers=True))


def table(workers):
    """Rows in memory: what a worker costs is more than what it saves."""
    rows = TensorDataset(torch.randn(20000, 16), torch.randint(0, 2, (20000,)))
    take_all(DataLoader(rows, batch_size=256, shuffle=True, num_workers=workers, persistent_workers=workers > 0), 4)


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 2)
