// Arrow files as a source. Values that are not packed are read one by one, wherever they lie;
// packed ones a record batch at a time.
#include "source/arrow.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/foreign_json.h"
#include "loaderscope/errors.h"
#include "source/arrow_file.h"
#include "source/compression.h"
#include "source/named_files.h"
#include "source/page_codec.h"
#include "source/readers.h"
#include "source/store.h"
#include "source/table_source.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

using ArrowLayouts = std::vector<ArrowLayout>;

const ArrowValues& batch_values(const ArrowLayouts& layouts, const SampleGroup& batch) {
  return layouts[static_cast<std::size_t>(batch.object)]
      .batches[static_cast<std::size_t>(batch.number)];
}

class BatchDecoder final : public GroupDecoder {
 public:
  BatchDecoder(const std::vector<SampleGroup>& batches, const ArrowLayouts& layouts,
               const ReadCounts& counts)
      : batches_(batches), layouts_(layouts), counts_(counts) {}

  void open(std::span<const std::byte> bytes, std::size_t group) override {
    stored_ = bytes;
    values_ = &batch_values(layouts_, batches_[group]);
    is_unpacked_ = false;
  }
  std::optional<std::span<const std::byte>> value(std::int64_t row,
                                                  SubstageListener& stages) override {
    if (!is_unpacked_) unpack(stages);
    if (values_->is_null(row)) return std::nullopt;
    const ArrowColumn& column = layouts_.front().column;
    const ArrowPlace place = values_->row_place(row, column.width);
    const auto bytes = unpacked_.subspan(static_cast<std::size_t>(place.begin),
                                         static_cast<std::size_t>(place.length));
    return column.width > 0 ? number_.to_text(bytes, column.is_signed) : bytes;
  }

 private:
  void unpack(SubstageListener& stages) {
    try {
      const std::int8_t codec = values_->codec.value_or(0);
      if (!unpacker_ || codec != codec_) unpacker_.emplace(codec);
      codec_ = codec;
      const Unpacking scope(stages);
      const std::span<std::byte> to = buffer_.take(static_cast<std::size_t>(values_->unpacked));
      unpacked_ = values_->codec ? unpacker_->unpack(stored_, to) : stored_;
      counts_.count_unpacked(std::ssize(stored_), std::ssize(unpacked_));
    } catch (const ValueError& error) {
      throw SampleError(Kind::damaged, error.what());
    }
    if (std::ssize(unpacked_) < values_->unpacked)
      throw SampleError(Kind::damaged, "its record batch holds fewer bytes than it says");
    is_unpacked_ = true;
  }

  const std::vector<SampleGroup>& batches_;
  const ArrowLayouts& layouts_;
  const ReadCounts& counts_;
  const ArrowValues* values_ = nullptr;
  std::span<const std::byte> stored_, unpacked_;
  bool is_unpacked_ = false;
  std::optional<ArrowUnpacker> unpacker_;
  std::int8_t codec_ = 0;
  SampleBuffer buffer_;
  ClassText number_;
};

class ArrowSource final : public TableSource {
 public:
  ArrowSource(const SourceOptions& options, Tables<ArrowLayout> tables,
              std::vector<std::int64_t> order)
      : TableSource(options, std::move(tables.files), "record batch"),
        layouts_(std::move(tables.layouts)),
        order_(std::move(order)) {
    for (std::size_t i = 0; i < layouts_.size(); ++i) {
      const ArrowLayout& layout = layouts_[i];
      if (!(layout.column == column()))
        throw RunError(shown_file(i) + ": has another column " + shown_text(layout.column.path) +
                           " than " + shown_file(0),
                       "measure them apart");
      for (std::size_t number = 0; number < layout.batches.size(); ++number) add(i, number);
    }
    check_groups();
    add_notes();
    check_order();
  }

  std::int64_t size() const override { return order_.empty() ? rows() : std::ssize(order_); }
  std::unique_ptr<SampleReader> make_reader() const override {
    if (is_packed_)
      return make_group_reader(
          ExtentSource::make_reader(), groups(), reading(),
          std::make_unique<BatchDecoder>(groups(), layouts_, reading().counts()));
    if (column().width == 0) return ExtentSource::make_reader();
    return make_reader_of_parts([number = ClassText(), is_signed = column().is_signed](
                                    std::int64_t, std::span<const std::byte> stored) mutable {
      return number.to_text(stored, is_signed);
    });
  }
  std::vector<Detail> details() const override {
    if (!is_packed_) return ExtentSource::details();
    const auto codec = batch_values(layouts_, groups().front()).codec;
    if (!codec) return {};
    return {{std::string(name_of(Stage::read_decompress)), std::string(arrow_codec(*codec).name)}};
  }

  Extent extent(std::int64_t sample) const override {
    if (is_packed_) return TableSource::extent(sample);
    const SampleGroup& batch = group_with(sample);
    const ArrowValues& values = batch_values(layouts_, batch);
    const std::int64_t row = row_index(sample) - batch.first_sample;
    if (values.is_null(row)) return {batch.object, values.begin, 0};
    const ArrowPlace place = values.row_place(row, column().width);
    return {batch.object, values.begin + place.begin, place.length};
  }

 private:
  const ArrowColumn& column() const { return layouts_.front().column; }
  std::int64_t row_index(std::int64_t sample) const override {
    return order_.empty() ? sample : order_[static_cast<std::size_t>(sample)];
  }

  void add(std::size_t file, std::size_t number) {
    const ArrowValues& values = layouts_[file].batches[number];
    const SampleGroup batch{static_cast<std::int64_t>(file),
                            static_cast<std::int64_t>(number),
                            0,
                            values.rows,
                            values.begin,
                            values.length};
    if (!values.codec) return add_group(batch, {});
    is_packed_ = true;
    refuse_larger(batch, std::max(values.length, values.unpacked),
                  "smaller ones, or without compression");
    add_group(batch, {values.length, values.unpacked});
  }

  void add_notes() {
    const std::string name = shown_text(column().path);
    if (is_packed_)
      add_note(fmt::format("{} has record batches of {}, packed: each is read as a whole", name,
                           plural(groups().front().samples, "row")));
    if (!order_.empty())
      add_note(fmt::format("{}: {} in the order of a file of indices", name,
                           plural(std::ssize(order_), "sample")));
  }

  void check_order() const {
    if (order_.empty()) return;
    if (is_packed_)
      throw UsageError("data: indices is for files that are not packed",
                       "write these again by flatten_indices()");
    for (const std::int64_t row : order_) {
      if (row < 0 || row >= rows())
        throw RunError(fmt::format("{}: has {}, and the indices name row {}", shown_file(0),
                                   plural(rows(), "row"), row),
                       "give the indices of this data set");
    }
  }

  ArrowLayouts layouts_;
  std::vector<std::int64_t> order_;  // rows; empty: as they lie
  bool is_packed_ = false;
};

// Indices of select() and shuffle() of `datasets`: the rows in order.
std::vector<std::int64_t> read_row_numbers(const std::string& path, Bytes largest) {
  const auto tables =
      open_tables<ArrowLayout>({path}, "reading indices", {}, [&](StoredObject& file) {
        return read_arrow_layout(file, choose_class_column, "indices", largest);
      });
  const ArrowLayout& layout = tables.layouts.front();
  if (layout.column.width != sizeof(std::int64_t))
    throw RunError(shown_text(path) + ": its column indices holds no numbers of 64 bits");
  const auto stored = find_store(path).open(path);
  std::vector<std::int64_t> rows;
  for (const ArrowValues& values : layout.batches) {
    if (values.codec) throw RunError(shown_text(path) + ": is packed, which indices never are");
    const auto count = static_cast<std::size_t>(values.rows), before = rows.size();
    rows.resize(before + count);
    stored->read(values.begin, std::as_writable_bytes(std::span(rows).subspan(before)));
  }
  if (rows.empty()) throw RunError(shown_text(path) + ": has no rows");
  return rows;
}

}  // namespace

std::unique_ptr<Source> open_arrow_tables(const SourceOptions& options,
                                          const SourceContext& context,
                                          const std::vector<std::string>& paths,
                                          const ReadArrowLayout& read,
                                          std::vector<std::int64_t> order) {
  const TableWords words(options);
  auto tables = open_tables<ArrowLayout>(paths, "reading where samples begin", context,
                                         [&](StoredObject& file) { return read(file, words); });
  auto source = std::make_unique<ArrowSource>(options, std::move(tables), std::move(order));
  source->settle_access();
  return source;
}

}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_arrow(const SourceOptions& options, const SourceContext& context) {
  const std::string indices = source::text_parameter(options.words, "indices");
  const auto read = [&](source::StoredObject& file, const source::TableWords& words) {
    return source::read_arrow_layout(file, words.choose, words.column, options.largest_sample);
  };
  return source::open_arrow_tables(options, context, source::arrow_files(options.paths), read,
                                   indices.empty()
                                       ? std::vector<std::int64_t>()
                                       : source::read_row_numbers(indices, options.largest_sample));
}

}  // namespace loaderscope

namespace loaderscope::source {

// Folders of Arrow files, as `datasets` of Hugging Face writes them.

namespace {

using Json = nlohmann::json;

constexpr Bytes kMaxState = Bytes{64} << 20;

// Returns nothing if the file is missing.
std::optional<Json> read_folder_json(const std::string& folder, const char* name) {
  const std::string path = join_path(folder, name);
  if (find_store(path).look_at(path).kind != PathFacts::Kind::object) return std::nullopt;
  try {
    Json json = parse_foreign_json<Json>(text_of_object(path, kMaxState));
    if (!json.is_object()) throw ValueError("is damaged: it holds no object of JSON");
    return json;
  } catch (const ValueError& error) {
    throw add_place<RunError>(shown_text(path) + ": ", error);
  }
}

[[noreturn]] void fail_as_splits(const std::string& folder, const Json& dict) {
  std::string splits, first;
  for (const Json& split : dict.value("splits", Json::array())) {
    if (!split.is_string()) continue;
    if (first.empty()) first = split.get<std::string>();
    splits += (splits.empty() ? "" : ", ") + shown_text(split.get<std::string>());
  }
  throw RunError(
      fmt::format("{}: holds the splits {}", shown_text(folder), splits),
      fmt::format("give one of them: --data arrow:{}/{}", shown_text(folder), shown_text(first)));
}

void add_files_of_state(const std::string& folder, const Json& state,
                        std::vector<std::string>& to) {
  const std::string path = shown_text(join_path(folder, "state.json"));
  const Json files = state.value("_data_files", Json());
  if (!files.is_array() || files.empty())
    throw RunError(path + ": names no files", "write the data set again by save_to_disk()");
  for (const Json& file : files) {
    const Json name = file.is_object() ? file.value("filename", Json()) : Json();
    const std::string text = name.is_string() ? name.get<std::string>() : "";
    if (text.empty() || text.find('/') != text.npos)
      throw RunError(path + ": names " + shown_text(text) + ", no file next to it");
    to.push_back(join_path(folder, text));
  }
  if (const Json indices = state.value("_indices_data_files", Json());
      indices.is_array() && !indices.empty())
    throw RunError(path + ": has its order in a file of indices",
                   "give that with ?indices=FILE, or write the data set again by "
                   "flatten_indices().save_to_disk()");
}

bool is_of_map(const std::string& path) {
  return std::filesystem::path(path).filename().string().starts_with("cache-");
}

}  // namespace

std::vector<std::string> arrow_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    const bool is_folder = find_store(path).look_at(path).kind == PathFacts::Kind::folder;
    if (is_folder) {
      if (const auto dict = read_folder_json(path, "dataset_dict.json"))
        fail_as_splits(path, *dict);
      if (const auto state = read_folder_json(path, "state.json")) {
        add_files_of_state(path, *state, files);
        continue;
      }
    }
    std::vector<std::string> named = named_files({path}, kArrowSuffixes);
    const bool are_all_of_map = std::all_of(named.begin(), named.end(), is_of_map);
    if (is_folder && !are_all_of_map) std::erase_if(named, is_of_map);
    files.insert(files.end(), named.begin(), named.end());
  }
  return files;
}

ArrowUnpacker::ArrowUnpacker(std::int8_t codec) : unpacker_(arrow_codec(codec).make()) {}
ArrowUnpacker::~ArrowUnpacker() = default;

Bytes ArrowUnpacker::unpacked_bytes(std::span<const std::byte> stored) {
  std::int64_t size = 0;
  if (stored.empty()) return 0;
  if (stored.size() < sizeof size) throw ValueError("is damaged: packed values have no length");
  std::memcpy(&size, stored.data(), sizeof size);
  return size;
}

std::span<const std::byte> ArrowUnpacker::unpack(std::span<const std::byte> stored,
                                                 std::span<std::byte> to) {
  constexpr Bytes kNotPacked = -1;
  const Bytes size = unpacked_bytes(stored);
  if (stored.empty()) return {};
  const auto values = stored.subspan(sizeof size);
  if (size == kNotPacked) return values;
  if (size != std::ssize(to)) throw ValueError("is damaged: packed values have another length");
  unpacker_->unpack(values, to);
  return to;
}

}  // namespace loaderscope::source
