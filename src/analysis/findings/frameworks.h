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

// pairs: name in DataLoader, name in the framework
using Names = std::vector<std::pair<std::string_view, std::string_view>>;

inline constexpr std::string_view kDeeperQueue = "more threads or a deeper queue there";

struct FrameworkRow {
  Row row;                         // the name of the package that loaders are made through
  std::string_view before, after;  // around the arguments
  // Arguments that it takes, where they are not all of DataLoader's by their own names.
  Names names = {};
  std::string_view otherwise = {};  // text before arguments that it does not take
  std::string_view copies = "batch.to(device, non_blocking=True), ahead on a side stream";
  std::string_view divides =  // the samples among ranks
      "DataLoader(..., sampler=DistributedSampler(ds)), and sampler.set_epoch(epoch) every epoch";
  // Advice for a loader whose workers are not visible.
  std::string_view more_workers = kDeeperQueue;
  bool gives_way = false;            // true if other frameworks of the same loader come first
  std::string_view older_name = {};  // earlier name of the package
};

// The first row is PyTorch's own, of a program without any of the others.
std::span<const FrameworkRow> framework_table();
const FrameworkRow& framework_of(const RunRecord& record);

// "num_workers=8" and further arguments of DataLoader, as the framework of `record` has them set:
// "TrainingArguments(dataloader_num_workers=8)".
std::string loader_words(const RunRecord& record, const std::vector<std::string_view>& arguments);
// "dataloader_num_workers"
std::string argument_name(const RunRecord& record, std::string_view argument);

// Words of a data set library for the settings that more workers, or reading ahead, need.
struct DataLibraryRow {
  Row row;                       // the name of the package that data sets are from
  std::string_view more_shards;  // {} stands for how many; "": it does not say
  std::string_view reads_ahead;  // setting for remote data; "": the same
};

std::span<const DataLibraryRow> data_library_table();
const DataLibraryRow* data_library_of(const RunRecord& record);  // null: none that is known

}  // namespace loaderscope
