#include "source/table_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace loaderscope::source {

TableSource::TableSource(const SourceOptions& options, std::vector<TableFile> files,
                         std::string_view group)
    : ExtentSource(options),
      roots_(options.paths),
      files_(std::move(files)),
      called_(group),
      largest_sample_(options.largest_sample) {}

std::string TableSource::describe(std::int64_t sample) const {
  const SampleGroup& group = group_with(sample);
  return fmt::format("{}: {} {}, row {}", files_[static_cast<std::size_t>(group.object)].path,
                     called_, group.number, row_of(sample) - group.first_sample);
}

Bytes TableSource::bytes_read_ahead() const {
  const Bytes ahead = ExtentSource::bytes_read_ahead();
  return ahead + largest_.stored * (ahead > 0 ? 2 : 1) + largest_.unpacked;
}

Extent TableSource::extent(std::int64_t sample) const {
  const SampleGroup& group = group_with(sample);
  return {group.object, group.begin, group.length};
}

void TableSource::path_of(std::int64_t object, std::string& path) const {
  path = files_[static_cast<std::size_t>(object)].path;
}

std::uint64_t TableSource::version_stamp(std::int64_t object) const {
  return files_[static_cast<std::size_t>(object)].stamp;
}

void TableSource::add_group(SampleGroup group, Held held) {
  group.first_sample = rows_;
  rows_ += group.samples;
  groups_.push_back(group);
  largest_.stored = std::max(largest_.stored, held.stored);
  largest_.unpacked = std::max(largest_.unpacked, held.unpacked);
}

void TableSource::refuse_larger(const SampleGroup& group, Bytes bytes,
                                const std::string& remedy) const {
  if (bytes <= largest_sample_) return;
  throw RunError(
      fmt::format("{}: {} {} has {} in its column, more than the {} that are read at once",
                  shown_file(static_cast<std::size_t>(group.object)), called_, group.number,
                  format_size(static_cast<double>(bytes)),
                  format_size(static_cast<double>(largest_sample_))),
      fmt::format("write {}", remedy));
}

void TableSource::check_groups() const {
  if (groups_.empty()) throw RunError(shown_file(0) + ": has no rows");
}

}  // namespace loaderscope::source
