// Parquet files as a source.
#include "source/parquet.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loaderscope/errors.h"
#include "source/named_files.h"
#include "source/parquet_pages.h"
#include "source/table_source.h"

namespace loaderscope::source {
namespace {

using ParquetLayouts = std::vector<ParquetLayout>;

class RowGroupDecoder final : public GroupDecoder {
 public:
  RowGroupDecoder(const std::vector<SampleGroup>& groups, const ParquetLayouts& layouts,
                  const Access& access)
      : groups_(groups), layouts_(layouts), chunk_(access.largest_sample(), access.counts()) {}

  void open(std::span<const std::byte> bytes, std::size_t group) override {
    const SampleGroup& placed = groups_[group];
    const ParquetLayout& layout = layouts_[static_cast<std::size_t>(placed.object)];
    chunk_.open(bytes, layout.groups[static_cast<std::size_t>(placed.number)], layout.column);
    holds_numbers_ = layout.column.width() > 0;
  }
  std::optional<std::span<const std::byte>> value(std::int64_t place,
                                                  SubstageListener& stages) override {
    const auto value = chunk_.value(place, stages);
    return value && holds_numbers_ ? number_.to_text(*value, true) : value;
  }

 private:
  const std::vector<SampleGroup>& groups_;
  const ParquetLayouts& layouts_;
  ColumnChunk chunk_;
  bool holds_numbers_ = false;
  ClassText number_;
};

class ParquetSource final : public TableSource {
 public:
  ParquetSource(const SourceOptions& options, Tables<ParquetLayout> tables)
      : TableSource(options, std::move(tables.files), "row group"),
        layouts_(std::move(tables.layouts)) {
    for (std::size_t i = 0; i < layouts_.size(); ++i) {
      for (std::int64_t number = 0; number < std::ssize(layouts_[i].groups); ++number)
        add(static_cast<std::int64_t>(i), number, options.largest_sample);
    }
    check_groups();
    add_note(note_of_groups());
  }

  std::unique_ptr<SampleReader> make_reader() const override {
    return make_group_reader(ExtentSource::make_reader(), groups(), reading(),
                             std::make_unique<RowGroupDecoder>(groups(), layouts_, reading()));
  }
  std::vector<Detail> details() const override {
    const SampleGroup& first = groups().front();
    const PageCodec& codec = page_codec(about(first.object, first.number).codec);
    if (codec.make == nullptr) return {};
    return {{std::string(name_of(Stage::read_decompress)), std::string(codec.name)}};
  }

 private:
  const ParquetGroup& about(std::int64_t file, std::int64_t number) const {
    return layouts_[static_cast<std::size_t>(file)].groups[static_cast<std::size_t>(number)];
  }

  void add(std::int64_t file, std::int64_t number, Bytes largest_sample) {
    const ParquetGroup& is = about(file, number);
    const SampleGroup group{file, number, 0, is.rows, is.begin, is.length};
    bool is_packed = false;
    try {
      is_packed = page_codec(is.codec).make != nullptr;
    } catch (const ValueError& error) {
      throw add_place<RunError>(shown_file(static_cast<std::size_t>(file)) + ": ", error);
    }
    refuse_larger(group, is.length,
                  fmt::format("smaller row groups (row_group_size={})", rows_for(is)));
    add_group(group, {is.length, is_packed ? std::min(is.unpacked, 2 * largest_sample) : 0});
  }

  // Returns the rows of a group of some 16 MiB.
  static std::int64_t rows_for(const ParquetGroup& group) {
    constexpr Bytes kFit = Bytes{16} << 20;
    return std::max<std::int64_t>(1, kFit / std::max<Bytes>(1, group.length / group.rows));
  }

  std::string note_of_groups() const {
    const SampleGroup& first = groups().front();
    return fmt::format("{}: row groups of {} and {}, each read as a whole",
                       shown_text(layouts_.front().column.path), plural(first.samples, "row"),
                       format_size(static_cast<double>(first.length)));
  }

  ParquetLayouts layouts_;
};

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_parquet(const SourceOptions& options, const SourceContext& context) {
  const source::TableWords words(options);
  auto tables = source::open_tables<source::ParquetLayout>(
      source::named_files(options.paths, source::kParquetSuffixes), "reading footers", context,
      [&](source::StoredObject& file) {
        return source::read_layout(file, words.choose, words.column);
      });
  auto source = std::make_unique<source::ParquetSource>(options, std::move(tables));
  source->settle_access();
  return source;
}

}  // namespace loaderscope
