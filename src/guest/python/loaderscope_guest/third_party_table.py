"""Loaders of packages other than PyTorch, a row each. Nothing else is loaded before a program imports one of them."""

from typing import NamedTuple, Tuple


class Row(NamedTuple):
    module: str
    iterator: str  # the class whose __next__ gives a batch
    called: str  # the loader, in sentences
    loader: str = ""  # attribute of the iterator that is the loader; "": the iterator itself is


TABLE: Tuple[Row, ...] = (
    Row("nvidia.dali.plugin.pytorch", "DALIGenericIterator", "DALIGenericIterator"),
    Row("nvidia.dali.plugin.pytorch", "DALIRaggedIterator", "DALIRaggedIterator"),
    Row("torchdata.nodes.loader", "LoaderIterator", "torchdata.nodes.Loader", "loader"),
    Row("ffcv.loader.epoch_iterator", "EpochIterator", "ffcv.loader.Loader", "loader"),
)
