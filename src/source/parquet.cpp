// Parquet files as a source.
#include "source/parquet.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loaderscope/errors.h"
#include "source/access.h"
#include "source/group_reader.h"
#include "source/named_files.h"
#include "source/parallel.h"
#include "source/parquet_file.h"
#include "source/parquet_pages.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

struct ParquetFile {
  std::string path;
  std::uint64_t stamp = 0;  // see Objects
  ParquetLayout layout;
};

class RowGroupDecoder final : public GroupDecoder {
 public:
  RowGroupDecoder(const std::vector<SampleGroup>& groups, const std::vector<ParquetFile>& files,
                  const Access& access)
      : groups_(groups), files_(files), chunk_(access.largest_sample(), access.counts()) {}

  void open(std::span<const std::byte> bytes, std::size_t group) override {
    const SampleGroup& placed = groups_[group];
    const ParquetLayout& layout = files_[static_cast<std::size_t>(placed.object)].layout;
    chunk_.open(bytes, layout.groups[static_cast<std::size_t>(placed.number)], layout.column);
    holds_numbers_ = layout.column.width() > 0;
  }
  std::optional<std::span<const std::byte>> value(std::int64_t place, StageSink& stages) override {
    const auto value = chunk_.value(place, stages);
    return value && holds_numbers_ ? number_.of(*value, true) : value;
  }

 private:
  const std::vector<SampleGroup>& groups_;
  const std::vector<ParquetFile>& files_;
  ColumnChunk chunk_;
  bool holds_numbers_ = false;
  ClassText number_;
};

class ParquetSource final : public ExtentSource {
 public:
  ParquetSource(const SourceOptions& options, std::vector<ParquetFile> files)
      : ExtentSource(options), roots_(options.paths), files_(std::move(files)) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      for (std::int64_t number = 0; number < std::ssize(files_[i].layout.groups); ++number)
        add_group(static_cast<std::int64_t>(i), number, options);
    }
    if (groups_.empty()) throw RunError(shown_text(files_.front().path) + ": has no rows");
    add_note(note_of_groups());
  }

  std::int64_t size() const override { return samples_; }
  std::string describe(std::int64_t sample) const override {
    const SampleGroup& group = group_of(groups_, sample);
    return fmt::format("{}: row group {}, row {}",
                       files_[static_cast<std::size_t>(group.object)].path, group.number,
                       sample - group.first_sample);
  }
  std::unique_ptr<SampleReader> make_reader() const override {
    return make_group_reader(ExtentSource::make_reader(), groups_, reading(),
                             std::make_unique<RowGroupDecoder>(groups_, files_, reading()));
  }
  Bytes bytes_read_ahead() const override {
    const Bytes ahead = ExtentSource::bytes_read_ahead();
    return ahead + largest_ * (ahead > 0 ? 2 : 1) + largest_unpacked_;
  }
  std::vector<Detail> details() const override {
    const PageCodec& codec = page_codec(about(groups_.front()).codec);
    if (codec.make == nullptr) return {};
    return {{std::string(name_of(Stage::read_decompress)), std::string(codec.name)}};
  }

  std::int64_t objects() const override { return std::ssize(files_); }
  // Of the row group that holds it.
  Extent extent(std::int64_t sample) const override {
    const SampleGroup& group = group_of(groups_, sample);
    return {group.object, group.begin, group.length};
  }
  void path_of(std::int64_t object, std::string& path) const override {
    path = files_[static_cast<std::size_t>(object)].path;
  }
  std::vector<std::string> roots() const override { return roots_; }
  std::uint64_t stamp_of(std::int64_t object) const override {
    return files_[static_cast<std::size_t>(object)].stamp;
  }

 private:
  const ParquetGroup& about(const SampleGroup& group) const {
    return files_[static_cast<std::size_t>(group.object)]
        .layout.groups[static_cast<std::size_t>(group.number)];
  }

  void add_group(std::int64_t file, std::int64_t number, const SourceOptions& options) {
    const std::string& path = files_[static_cast<std::size_t>(file)].path;
    const ParquetGroup& about =
        files_[static_cast<std::size_t>(file)].layout.groups[static_cast<std::size_t>(number)];
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
          shown_text(path), number, show_size(static_cast<double>(about.length)),
          show_size(static_cast<double>(options.largest_sample)), rows_for(about)));
    }
    largest_ = std::max(largest_, about.length);
    if (is_packed)
      largest_unpacked_ =
          std::max(largest_unpacked_, std::min(about.unpacked, 2 * options.largest_sample));
    groups_.push_back({file, number, samples_, about.rows, about.begin, about.length});
    samples_ += about.rows;
  }

  // That make a group of some 16 MiB.
  static std::int64_t rows_for(const ParquetGroup& group) {
    constexpr Bytes kFit = Bytes{16} << 20;
    return std::max<std::int64_t>(1, kFit / std::max<Bytes>(1, group.length / group.rows));
  }

  std::string note_of_groups() const {
    const SampleGroup& first = groups_.front();
    return fmt::format("{}: row groups of {} and {}, each read as a whole",
                       shown_text(files_.front().layout.column.path), plural(first.samples, "row"),
                       show_size(static_cast<double>(first.length)));
  }

  std::vector<std::string> roots_;
  std::vector<ParquetFile> files_;
  std::vector<SampleGroup> groups_;
  std::int64_t samples_ = 0;
  Bytes largest_ = 0, largest_unpacked_ = 0;
};

ParquetFile opened_file(const std::string& path, ChooseColumn choose, std::string_view column) {
  try {
    const std::unique_ptr<StoredObject> file = store_of(path).open(path);
    return {path, file->stamp().inode, read_layout(*file, choose, column)};
  } catch (const ValueError& error) {
    throw RunError(shown_text(path) + ": " + error.what());
  }
}

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_parquet(const SourceOptions& options, const SourceContext& context) {
  const std::string column = source::word_of(options.words, options.classes ? "label" : "column");
  const auto choose = options.classes ? source::choose_class_column : source::choose_image_column;
  const auto paths = source::named_files(options.paths, source::kParquetSuffixes);
  std::vector<source::ParquetFile> files(paths.size());
  source::for_each_index(std::ssize(paths), "reading footers", context, [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    files[place] = source::opened_file(paths[place], choose, column);
  });
  auto source = std::make_unique<source::ParquetSource>(options, std::move(files));
  source->settle_access();
  return source;
}

}  // namespace loaderscope
