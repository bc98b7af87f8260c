// Parquet files as a source.
#include "source/parquet.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loaderscope/errors.h"
#include "source/access.h"
#include "source/named_files.h"
#include "source/parallel.h"
#include "source/parquet_file.h"
#include "source/parquet_pages.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

struct ParquetFile {
  std::string path;
  std::uint64_t stamp = 0;  // see Objects
  ParquetLayout layout;
};

// A row group of one of the files.
struct PlacedGroup {
  std::int64_t file = 0, number = 0, first_sample = 0;  // the number is its file's
  ParquetGroup about;
};

const PlacedGroup& group_of(const std::vector<PlacedGroup>& groups, std::int64_t sample) {
  const auto behind = std::upper_bound(
      groups.begin(), groups.end(), sample,
      [](std::int64_t i, const PlacedGroup& group) { return i < group.first_sample; });
  return *(behind - 1);
}

// A row group is read as a whole, at the first of its samples, and held until another is needed.
class ParquetReader final : public SampleReader {
 public:
  ParquetReader(std::unique_ptr<SampleReader> stored, const std::vector<PlacedGroup>& groups,
                const std::vector<ParquetFile>& files, const Access& access)
      : stored_(std::move(stored)),
        groups_(groups),
        files_(files),
        counts_(access.counts()),
        chunk_(access.largest_sample(), counts_) {}

  std::span<const std::byte> read(std::int64_t sample) override {
    const PlacedGroup& group = group_of(groups_, sample);
    bytes_read_ = 0;
    if (&group != held_) hold(group);
    const auto value = chunk_.value(sample - group.first_sample, *stages_);
    if (!value) throw SampleError(Kind::truncated, "is null: the column has no bytes in its row");
    if (value->empty()) throw SampleError(Kind::truncated, "is empty");
    counts_.count_sample(std::ssize(*value));
    return *value;
  }

  // Of each group that comes up the first sample stands for all.
  void expect(std::span<const std::int64_t> samples) override {
    expected_.clear();
    const PlacedGroup* last = held_;
    for (const std::int64_t sample : samples) {
      const PlacedGroup& group = group_of(groups_, sample);
      if (&group != last) expected_.push_back(group.first_sample);
      last = &group;
    }
    stored_->expect(expected_);
  }
  int looks_ahead() const override { return stored_->looks_ahead(); }
  void report_to(StageSink& stages) override {
    stages_ = &stages;
    stored_->report_to(stages);
  }
  std::optional<Bytes> stored_bytes() const override { return bytes_read_; }

 private:
  void hold(const PlacedGroup& group) {
    held_ = nullptr;
    const std::span<const std::byte> bytes = stored_->read(group.first_sample);
    bytes_read_ = std::ssize(bytes);
    counts_.count_no_sample(bytes_read_);
    chunk_.open(bytes, group.about,
                files_[static_cast<std::size_t>(group.file)].layout.column.levels);
    held_ = &group;
  }

  std::unique_ptr<SampleReader> stored_;
  const std::vector<PlacedGroup>& groups_;
  const std::vector<ParquetFile>& files_;
  const ReadCounts& counts_;
  ColumnChunk chunk_;
  StageSink nobody_;
  StageSink* stages_ = &nobody_;
  const PlacedGroup* held_ = nullptr;
  std::vector<std::int64_t> expected_;
  Bytes bytes_read_ = 0;
};

class ParquetSource final : public ExtentSource {
 public:
  ParquetSource(const SourceOptions& options, std::vector<ParquetFile> files)
      : ExtentSource(options), roots_(options.paths), files_(std::move(files)) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      std::int64_t number = 0;
      for (const ParquetGroup& group : files_[i].layout.groups)
        add_group({static_cast<std::int64_t>(i), number++, samples_, group}, options);
    }
    if (groups_.empty()) throw RunError(shown_text(files_.front().path) + ": has no rows");
    add_note(note_of_groups());
  }

  std::int64_t size() const override { return samples_; }
  std::string describe(std::int64_t sample) const override {
    const PlacedGroup& group = group_of(groups_, sample);
    return fmt::format("{}: row group {}, row {}",
                       files_[static_cast<std::size_t>(group.file)].path, group.number,
                       sample - group.first_sample);
  }
  std::unique_ptr<SampleReader> make_reader() const override {
    return std::make_unique<ParquetReader>(ExtentSource::make_reader(), groups_, files_, reading());
  }
  Bytes bytes_read_ahead() const override {
    const Bytes ahead = ExtentSource::bytes_read_ahead();
    return ahead + largest_ * (ahead > 0 ? 2 : 1) + largest_unpacked_;
  }
  std::vector<Detail> details() const override {
    const PageCodec& codec = page_codec(groups_.front().about.codec);
    if (codec.make == nullptr) return {};
    return {{std::string(name_of(Stage::read_decompress)), std::string(codec.name)}};
  }

  std::int64_t objects() const override { return std::ssize(files_); }
  // Of the row group that holds it.
  Extent extent(std::int64_t sample) const override {
    const PlacedGroup& group = group_of(groups_, sample);
    return {group.file, group.about.begin, group.about.length};
  }
  void path_of(std::int64_t object, std::string& path) const override {
    path = files_[static_cast<std::size_t>(object)].path;
  }
  std::vector<std::string> roots() const override { return roots_; }
  std::uint64_t stamp_of(std::int64_t object) const override {
    return files_[static_cast<std::size_t>(object)].stamp;
  }

 private:
  void add_group(const PlacedGroup& group, const SourceOptions& options) {
    const std::string& path = files_[static_cast<std::size_t>(group.file)].path;
    const ParquetGroup& about = group.about;
    bool is_packed = false;
    try {
      is_packed = page_codec(about.codec).make != nullptr;
    } catch (const ValueError& error) {
      throw RunError(shown_text(path) + ": " + error.what());
    }
    if (about.length > options.largest_sample) {
      throw RunError(fmt::format(
          "{}: row group {} has {} in its column, more than the {} that are read at once; write "
          "smaller row groups (row_group_size={})",
          shown_text(path), group.number, show_size(static_cast<double>(about.length)),
          show_size(static_cast<double>(options.largest_sample)), rows_for(about)));
    }
    largest_ = std::max(largest_, about.length);
    if (is_packed)
      largest_unpacked_ =
          std::max(largest_unpacked_, std::min(about.unpacked, 2 * options.largest_sample));
    groups_.push_back(group);
    samples_ += about.rows;
  }

  // That make a group of some 16 MiB.
  static std::int64_t rows_for(const ParquetGroup& group) {
    constexpr Bytes kFit = Bytes{16} << 20;
    return std::max<std::int64_t>(1, kFit / std::max<Bytes>(1, group.length / group.rows));
  }

  std::string note_of_groups() const {
    const PlacedGroup& first = groups_.front();
    return fmt::format("{}: row groups of {} and {}, each read as a whole",
                       shown_text(files_.front().layout.column.path),
                       plural(first.about.rows, "row"),
                       show_size(static_cast<double>(first.about.length)));
  }

  std::vector<std::string> roots_;
  std::vector<ParquetFile> files_;
  std::vector<PlacedGroup> groups_;
  std::int64_t samples_ = 0;
  Bytes largest_ = 0, largest_unpacked_ = 0;
};

ParquetFile opened_file(const std::string& path, std::string_view column) {
  try {
    const std::unique_ptr<StoredObject> file = store_of(path).open(path);
    return {path, file->stamp().inode, read_layout(*file, column)};
  } catch (const ValueError& error) {
    throw RunError(shown_text(path) + ": " + error.what());
  }
}

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_parquet(const SourceOptions& options, const SourceContext& context) {
  const auto word = options.words.find("column");
  const std::string column = word == options.words.end() ? "" : word->second;
  const auto paths = source::named_files(options.paths, source::kParquetSuffixes);
  std::vector<source::ParquetFile> files(paths.size());
  source::for_each_index(std::ssize(paths), "reading footers", context, [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    files[place] = source::opened_file(paths[place], column);
  });
  auto source = std::make_unique<source::ParquetSource>(options, std::move(files));
  source->settle_access();
  return source;
}

}  // namespace loaderscope
