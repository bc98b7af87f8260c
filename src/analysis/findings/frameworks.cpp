#include "analysis/findings/frameworks.h"

#include <fmt/format.h>

#include <algorithm>

namespace loaderscope {
namespace {

// The entry that accepts the first of `facts` that any accepts.
template <class Entry>
const Entry* first_named(std::span<const Entry> table, const std::vector<std::string>& facts,
                         const auto& accepts) {
  for (const std::string& package : facts) {
    for (const Entry& entry : table)
      if (accepts(entry, package)) return &entry;
  }
  return nullptr;
}

std::string_view own_name(const FrameworkRow& framework, std::string_view argument) {
  if (framework.names.empty()) return argument;
  const auto found = std::find_if(framework.names.begin(), framework.names.end(),
                                  [&](const auto& name) { return name.first == argument; });
  return found == framework.names.end() ? std::string_view() : found->second;
}

}  // namespace

std::span<const FrameworkRow> framework_table() {
  static const FrameworkRow table[] = {
      {{"torch", "A DataLoader of the program's own."},
       {{"DataLoader", "StatefulDataLoader"}, {"torch", "torchdata", "torch_geometric", "monai"}},
       "DataLoader(..., ",
       ")"},
      {{"transformers", "The Trainer makes the DataLoader, by its TrainingArguments."},
       {{"TrainingArguments", "Seq2SeqTrainingArguments"}, {"transformers"}, CallPlace::only, 1},
       "TrainingArguments(",
       ")",
       {{"num_workers", "dataloader_num_workers"},
        {"prefetch_factor", "dataloader_prefetch_factor"},
        {"pin_memory", "dataloader_pin_memory"},
        {"persistent_workers", "dataloader_persistent_workers"},
        {"drop_last", "dataloader_drop_last"},
        {"in_order", "dataloader_in_order"},
        {"multiprocessing_context", "dataloader_multiprocessing_context"},
        {"batch_size", "per_device_train_batch_size"}},
       "in get_train_dataloader() of a Trainer of your own DataLoader(..., ",
       "accelerator_config={\"non_blocking\": True}",
       "the loader of the Trainer's own get_train_dataloader(), which divides them"},
      {{"lightning", "Its Trainer asks a module, or a DataModule, for the DataLoader."},
       {{"DataLoader"}, {"torch"}, CallPlace::line_or_only},
       "DataLoader(..., ",
       ") in train_dataloader()",
       {},
       {},
       "Lightning copies what is page-locked ahead of the compute by itself",
       "Trainer(use_distributed_sampler=True), and no sampler in train_dataloader()",
       kDeeperQueue,
       false,
       "pytorch_lightning"},
      {{"fastai", "DataLoaders are made by a DataBlock or by a factory of DataLoaders."},
       {{"dataloaders"},
        {"fastai"},
        CallPlace::line,
        3,
        {"fastai.data", "fastai.vision.data", "fastai.text.data", "fastai.tabular.data",
         "fastai.collab"},
        {"DataLoader", "TfmdDL"}},
       "dataloaders(..., ",
       ")",
       {{"num_workers", "num_workers"},
        {"pin_memory", "pin_memory"},
        {"persistent_workers", "persistent_workers"},
        {"drop_last", "drop_last"},
        {"batch_size", "bs"}},
       "a DataLoader of PyTorch: DataLoader(..., "},
      {{"timm", "Its create_loader() makes the DataLoader."},
       {{"create_loader"}, {"timm"}, CallPlace::line, 3, {"timm.data"}},
       "create_loader(..., ",
       ")",
       {{"num_workers", "num_workers"},
        {"pin_memory", "pin_memory"},
        {"persistent_workers", "persistent_workers"},
        {"batch_size", "batch_size"}},
       "a DataLoader of PyTorch: DataLoader(..., "},
      {{"ultralytics", "Its trainer makes the DataLoader, by the arguments of train()."},
       {{"train"}, {"ultralytics"}, CallPlace::line, 1, {"ultralytics.engine.model"}},
       "model.train(..., ",
       ")",
       {{"num_workers", "workers"}, {"batch_size", "batch"}},
       "in its build_dataloader() DataLoader(..., ",
       FrameworkRow::kUsualCopies,
       FrameworkRow::kUsualDivides,
       kDeeperQueue,
       false,
       {},
       true},
      {{"webdataset", "A WebLoader passes its arguments to a DataLoader."},
       {{"WebLoader"}, {"webdataset"}, CallPlace::line, 1},
       "webdataset.WebLoader(..., ",
       ")"},
      {{"litdata", "A StreamingDataLoader is a DataLoader."},
       {{"StreamingDataLoader"}, {"litdata"}, CallPlace::line, 1},
       "litdata.StreamingDataLoader(..., ",
       ")"},
      {{"streaming", "A StreamingDataLoader is a DataLoader."},
       {{"StreamingDataLoader"}, {"streaming"}, CallPlace::line, 1},
       "streaming.StreamingDataLoader(..., ",
       ")"},
      {{"nvidia", "Pipelines of DALI have threads and queues of their own."},
       {{"DataLoader"}, {"torch"}},
       "DataLoader(..., ",
       ")",
       {},
       {},
       FrameworkRow::kUsualCopies,
       "fn.readers.*(shard_id=rank, num_shards=world_size)",
       "@pipeline_def(num_threads=, prefetch_queue_depth=) with more"},
      {{"accelerate", "What prepare() is given is a DataLoader of the program's own."},
       {{"DataLoader"}, {"torch"}, CallPlace::line_or_only},
       "DataLoader(..., ",
       "), which prepare() is given",
       {},
       {},
       "Accelerator(dataloader_config=DataLoaderConfiguration(non_blocking=True))",
       "accelerator.prepare(loader), which divides its samples",
       kDeeperQueue,
       true},
  };
  return table;
}

const FrameworkRow& find_framework(const RunRecord& record) {
  const std::vector<std::string> none;
  const std::vector<std::string>& made_by = record.program ? record.program->made_by : none;
  const auto found = [&](bool giving_way) {
    return first_named(framework_table(), made_by,
                       [&](const FrameworkRow& row, std::string_view package) {
                         const bool is_it = row.row.name == package || row.older_name == package;
                         return is_it && row.gives_way == giving_way;
                       });
  };
  if (const FrameworkRow* row = found(false)) return *row;
  if (const FrameworkRow* row = found(true)) return *row;
  return framework_table().front();
}

std::string argument_name(const RunRecord& record, std::string_view argument) {
  const std::string_view name = own_name(find_framework(record), argument);
  return std::string(name.empty() ? argument : name);
}

std::string loader_words(const RunRecord& record, const std::vector<std::string_view>& arguments) {
  const FrameworkRow& framework = find_framework(record);
  std::string taken, others;
  for (const std::string_view argument : arguments) {
    const std::string_view key = argument.substr(0, argument.find('='));
    const std::string_view name = own_name(framework, key);
    std::string& text = name.empty() ? others : taken;
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", name.empty() ? key : name,
                        argument.substr(key.size()));
  }
  if (!taken.empty()) taken = fmt::format("{}{}{}", framework.before, taken, framework.after);
  if (others.empty()) return taken;
  return fmt::format("{}{}{}{})", taken, taken.empty() ? "" : "; ", framework.otherwise, others);
}

std::span<const DataLibraryRow> data_library_table() {
  static const DataLibraryRow table[] = {
      {{"datasets", "Hugging Face's data sets, of which streams are divided by shards."},
       "dataset.to_iterable_dataset(num_shards={}), or as many files",
       ""},
      {{"webdataset", "Shards are .tar files, and a worker reads whole ones."},
       "as many .tar files: webdataset.ShardWriter(..., maxcount=) with less",
       ""},
      {{"litdata", "A StreamingDataset downloads chunks ahead."},
       "",
       "litdata.StreamingDataset(..., max_pre_download=) with more"},
      {{"streaming", "MosaicML's StreamingDataset downloads shards ahead."},
       "",
       "streaming.StreamingDataset(..., predownload=) with more"},
  };
  return table;
}

const DataLibraryRow* find_data_library(const RunRecord& record) {
  if (!record.program) return nullptr;
  return first_named(
      data_library_table(), record.program->data_of,
      [](const DataLibraryRow& row, std::string_view package) { return row.row.name == package; });
}

}  // namespace loaderscope
