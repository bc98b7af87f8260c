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
                     called_, group.number, row_index(sample) - group.first_sample);
}

Bytes TableSource::bytes_read_ahead() const {
  const Bytes ahead = ExtentSource::bytes_read_ahead();
  return ahead + largest_.stored * (ahead > 0 ? 2 : 1) + largest_.unpacked;
}

Extent TableSource::extent(std::int64_t sample) const {
  const SampleGroup& group = group_with(sample);
  return {group.object, group.begin, group.length};
}

void TableSource::get_path(std::int64_t object, std::string& path) const {
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

namespace {

class GroupReader final : public SampleReader {
 public:
  GroupReader(std::unique_ptr<SampleReader> stored, const std::vector<SampleGroup>& groups,
              const Access& access, std::unique_ptr<GroupDecoder> decoder)
      : stored_(std::move(stored)),
        groups_(groups),
        counts_(access.counts()),
        decoder_(std::move(decoder)) {}

  std::span<const std::byte> read(std::int64_t sample) override {
    const SampleGroup& group = find_group(groups_, sample);
    bytes_read_ = 0;
    if (&group != held_) hold(group);
    const auto value = decoder_->value(sample - group.first_sample, *stages_);
    if (!value)
      throw SampleError(SampleError::Kind::truncated,
                        "is null: the column has no bytes in its row");
    if (value->empty()) throw SampleError(SampleError::Kind::truncated, "is empty");
    counts_.count_sample(std::ssize(*value));
    return *value;
  }

  // Expects the first sample of each group in place of all its samples.
  void expect(std::span<const std::int64_t> samples) override {
    expected_.clear();
    const SampleGroup* last = held_;
    for (const std::int64_t sample : samples) {
      const SampleGroup& group = find_group(groups_, sample);
      if (&group != last) expected_.push_back(group.first_sample);
      last = &group;
    }
    stored_->expect(expected_);
  }
  int readahead_limit() const override { return stored_->readahead_limit(); }
  void set_listener(SubstageListener& stages) override {
    stages_ = &stages;
    stored_->set_listener(stages);
  }
  std::optional<Bytes> stored_bytes() const override { return bytes_read_; }

 private:
  void hold(const SampleGroup& group) {
    held_ = nullptr;
    const std::span<const std::byte> bytes = stored_->read(group.first_sample);
    bytes_read_ = std::ssize(bytes);
    counts_.count_no_sample(bytes_read_);
    decoder_->open(bytes, static_cast<std::size_t>(&group - groups_.data()));
    held_ = &group;
  }

  std::unique_ptr<SampleReader> stored_;
  const std::vector<SampleGroup>& groups_;
  const ReadCounts& counts_;
  std::unique_ptr<GroupDecoder> decoder_;
  SubstageListener no_listener_;
  SubstageListener* stages_ = &no_listener_;
  const SampleGroup* held_ = nullptr;
  std::vector<std::int64_t> expected_;
  Bytes bytes_read_ = 0;
};

}  // namespace

const SampleGroup& find_group(const std::vector<SampleGroup>& groups, std::int64_t sample) {
  const auto next = std::upper_bound(
      groups.begin(), groups.end(), sample,
      [](std::int64_t i, const SampleGroup& group) { return i < group.first_sample; });
  return *(next - 1);
}

std::unique_ptr<SampleReader> make_group_reader(std::unique_ptr<SampleReader> stored,
                                                const std::vector<SampleGroup>& groups,
                                                const Access& access,
                                                std::unique_ptr<GroupDecoder> decoder) {
  return std::make_unique<GroupReader>(std::move(stored), groups, access, std::move(decoder));
}

}  // namespace loaderscope::source
