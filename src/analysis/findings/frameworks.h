// The settings of a PyTorch loader in the words of what makes it: each framework a row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/rows.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

using Names = std::vector<std::pair<std::string_view, std::string_view>>;  // of DataLoader; its own

inline constexpr std::string_view kDeeperQueue = "more threads or a deeper queue there";

struct FrameworkRow {
  Row row;                         // the name of the package that loaders are made through
  std::string_view before, after;  // around the arguments
  // Arguments that it takes, where they are not all of DataLoader's by their own names.
  Names names = {};
  std::string_view otherwise = {};  // before those that it does not take
  std::string_view copies = "batch.to(device, non_blocking=True), ahead on a side stream";
  std::string_view divides =  // the samples among ranks
      "DataLoader(..., sampler=DistributedSampler(ds)), and sampler.set_epoch(epoch) every epoch";
  // Of a loader whose workers are not seen.
  std::string_view more_workers = kDeeperQueue;
  bool gives_way = false;            // to others that the same loader is made through
  std::string_view older_name = {};  // of the package, where it has had another one
};

// The first row is PyTorch's own, of a program without any of the others.
std::span<const FrameworkRow> framework_table();
const FrameworkRow& framework_of(const RunRecord& record);

// "num_workers=8" and further arguments of DataLoader, as the framework of `record` has them set:
// "TrainingArguments(dataloader_num_workers=8)".
std::string loader_words(const RunRecord& record, const std::vector<std::string_view>& arguments);
// "dataloader_num_workers"
std::string argument_name(const RunRecord& record, std::string_view argument);

// What a library of data sets calls what more workers, or reads ahead, need of it.
struct DataLibraryRow {
  Row row;                       // the name of the package that data sets are from
  std::string_view more_shards;  // {} stands for how many; "": it does not say
  std::string_view reads_ahead;  // of data that is fetched from afar; "": the same
};

std::span<const DataLibraryRow> data_library_table();
const DataLibraryRow* data_library_of(const RunRecord& record);  // null: none that is known

}  // namespace loaderscope
