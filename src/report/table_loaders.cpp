// A row per loader of the measured program: which of them the training waits for.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/wording.h"
#include "report/table_parts.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxLoaders = 6;

std::string remark_on(const LoaderUse& loader) {
  if (loader.measured) return "measured, and all else here is of it";
  return loader.with_gradients ? "" : "without gradients";
}

std::string file_name(const std::string& place) {
  const auto folder = place.rfind('/');
  return folder == place.npos ? place : place.substr(folder + 1);
}

}  // namespace

TextTable loader_table(const RunRecord& record) {
  TextTable table("lrrrl",
                  {"loader", "batches", "waited for", "its loop", "of the program's time"});
  for (const LoaderUse& loader :
       std::span(record.loaders).first(std::min(record.loaders.size(), kMaxLoaders))) {
    table.add({fmt::format("{} ({})", loader.dataset, file_name(loader.place)),
               format_count(loader.batches), format_percent(loader.waited),
               format_percent(loader.looped), remark_on(loader)});
  }
  return table;
}

}  // namespace loaderscope
