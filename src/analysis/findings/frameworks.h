// Settings of a PyTorch loader in the terms of the framework that makes it. Each framework is a
// row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/rows.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

// Pairs: name in DataLoader, name in the framework.
using Names = std::vector<std::pair<std::string_view, std::string_view>>;

inline constexpr std::string_view kDeeperQueue = "more threads or a deeper queue there";

// Place, in the source of a program, of the call that takes the arguments.
enum class CallPlace : std::uint8_t {
  line,          // line that made the loader
  line_or_only,  // line that made the loader, else the only such call of its file
  only,          // only such call of its file
};

// The call in the source of a program that takes the arguments.
struct SourceCall {
  std::vector<std::string_view> names;     // "DataLoader"
  std::vector<std::string_view> packages;  // packages that these names are imported from
  CallPlace place = CallPlace::line;
  // Number of arguments by position that are no settings. 0: DataLoader's own order.
  std::int64_t first_positions = 0;
  // Modules whose functions take the arguments too, with those in them: "fastai.data".
  std::vector<std::string_view> modules = {};
  std::vector<std::string_view> classes = {};  // classes of `packages` that take them too
};

struct FrameworkRow {
  static constexpr std::string_view kUsualCopies =
      "with torch.cuda.stream(side): next_batch.to(device, non_blocking=True)";
  static constexpr std::string_view kUsualDivides =
      "DataLoader(..., sampler=DistributedSampler(ds)), and sampler.set_epoch(epoch) every epoch";

  Row row;  // name of the package that makes loaders
  SourceCall call;
  std::string_view before, after;  // text around the arguments
  // Arguments that it takes. Empty if it takes all of DataLoader's under their own names.
  Names names = {};
  std::string_view otherwise = {};  // text before arguments that it does not take
  std::string_view copies = kUsualCopies;
  std::string_view divides = kUsualDivides;  // divides the samples among ranks
  // Advice for a loader whose workers are not visible.
  std::string_view more_workers = kDeeperQueue;
  bool gives_way = false;            // true if other frameworks of the same loader come first
  std::string_view older_name = {};  // earlier name of the package
  bool keeps_workers = false;        // true if its workers persist without an argument
};

// Returns the table. Its first row is PyTorch itself, for programs without another framework.
std::span<const FrameworkRow> framework_table();
const FrameworkRow& find_framework(const RunRecord& record);

// Returns "num_workers=8" and further arguments of DataLoader as the framework of `record` sets
// them: "TrainingArguments(dataloader_num_workers=8)".
std::string loader_words(const RunRecord& record, const std::vector<std::string_view>& arguments);
// Returns "dataloader_num_workers".
std::string argument_name(const RunRecord& record, std::string_view argument);

// Words of a data set library for the settings that more workers, or reading ahead, need.
struct DataLibraryRow {
  Row row;                       // name of the package of the data sets
  std::string_view more_shards;  // {} stands for the number; "" if unknown
  std::string_view reads_ahead;  // setting for remote data; "": the same
};

std::span<const DataLibraryRow> data_library_table();
const DataLibraryRow* find_data_library(const RunRecord& record);  // null if unknown

}  // namespace loaderscope
