// Arrow files as a source. Values that are not packed are read one by one, wherever they lie;
// packed ones a record batch at a time.
#include "source/arrow.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loaderscope/errors.h"
#include "source/access.h"
#include "source/arrow_file.h"
#include "source/group_reader.h"
#include "source/named_files.h"
#include "source/page_codec.h"
#include "source/parallel.h"
#include "source/readers.h"
#include "source/store.h"
#include "source/unpacking.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

struct ArrowFile {
  std::string path;
  std::uint64_t stamp = 0;  // see Objects
  ArrowLayout layout;
};
using ArrowFiles = std::vector<ArrowFile>;

const ArrowValues& values_of(const ArrowFiles& files, const SampleGroup& batch) {
  return files[static_cast<std::size_t>(batch.object)]
      .layout.batches[static_cast<std::size_t>(batch.number)];
}

class BatchDecoder final : public GroupDecoder {
 public:
  BatchDecoder(const std::vector<SampleGroup>& batches, const ArrowFiles& files,
               const ReadCounts& counts)
      : batches_(batches), files_(files), counts_(counts) {}

  void open(std::span<const std::byte> bytes, std::size_t group) override {
    stored_ = bytes;
    values_ = &values_of(files_, batches_[group]);
    is_unpacked_ = false;
  }
  std::optional<std::span<const std::byte>> value(std::int64_t row, StageSink& stages) override {
    if (!is_unpacked_) unpack(stages);
    if (values_->is_null(row)) return std::nullopt;
    const ArrowColumn& column = files_.front().layout.column;
    const auto begin = static_cast<std::size_t>(values_->begin_of(row, column.width));
    const auto end = static_cast<std::size_t>(values_->begin_of(row + 1, column.width));
    const auto bytes = unpacked_.subspan(begin, end - begin);
    return column.width > 0 ? number_.of(bytes, column.is_signed) : bytes;
  }

 private:
  void unpack(StageSink& stages) {
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
  const ArrowFiles& files_;
  const ReadCounts& counts_;
  const ArrowValues* values_ = nullptr;
  std::span<const std::byte> stored_, unpacked_;
  bool is_unpacked_ = false;
  std::optional<ArrowUnpacker> unpacker_;
  std::int8_t codec_ = 0;
  SampleBuffer buffer_;
  ClassText number_;
};

class ArrowSource final : public ExtentSource {
 public:
  ArrowSource(const SourceOptions& options, ArrowFiles files, std::vector<std::int64_t> order)
      : ExtentSource(options),
        roots_(options.paths),
        files_(std::move(files)),
        order_(std::move(order)) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const ArrowLayout& layout = files_[i].layout;
      if (!(layout.column == files_.front().layout.column))
        throw RunError(shown_text(files_[i].path) + ": has another column " +
                       shown_text(layout.column.path) + " than " + shown_text(files_.front().path) +
                       "; measure them apart");
      for (std::size_t number = 0; number < layout.batches.size(); ++number)
        add_batch(i, number, options);
    }
    if (batches_.empty()) throw RunError(shown_text(files_.front().path) + ": has no rows");
    add_notes();
    check_order();
  }

  std::int64_t size() const override { return order_.empty() ? rows_ : std::ssize(order_); }
  std::string describe(std::int64_t sample) const override {
    const SampleGroup& batch = batch_of(sample);
    return fmt::format("{}: record batch {}, row {}",
                       files_[static_cast<std::size_t>(batch.object)].path, batch.number,
                       row_of(sample) - batch.first_sample);
  }
  std::unique_ptr<SampleReader> make_reader() const override {
    if (is_packed_)
      return make_group_reader(
          ExtentSource::make_reader(), batches_, reading(),
          std::make_unique<BatchDecoder>(batches_, files_, reading().counts()));
    const ArrowColumn& column = files_.front().layout.column;
    if (column.width == 0) return ExtentSource::make_reader();
    return make_reader_of_parts([number = ClassText(), is_signed = column.is_signed](
                                    std::int64_t, std::span<const std::byte> stored) mutable {
      return number.of(stored, is_signed);
    });
  }
  Bytes bytes_read_ahead() const override {
    const Bytes ahead = ExtentSource::bytes_read_ahead();
    return is_packed_ ? ahead + largest_ * (ahead > 0 ? 2 : 1) + largest_unpacked_ : ahead;
  }
  std::vector<Detail> details() const override {
    if (!is_packed_) return ExtentSource::details();
    const auto codec = values_of(files_, batches_.front()).codec;
    if (!codec) return {};
    return {{std::string(name_of(Stage::read_decompress)), std::string(arrow_codec(*codec).name)}};
  }

  std::int64_t objects() const override { return std::ssize(files_); }
  Extent extent(std::int64_t sample) const override {
    const SampleGroup& batch = batch_of(sample);
    const ArrowValues& values = values_of(files_, batch);
    if (is_packed_) return {batch.object, values.begin, values.length};
    const std::int64_t row = row_of(sample) - batch.first_sample;
    if (values.is_null(row)) return {batch.object, values.begin, 0};
    const std::size_t width = files_.front().layout.column.width;
    const Bytes begin = values.begin_of(row, width);
    return {batch.object, values.begin + begin, values.begin_of(row + 1, width) - begin};
  }
  void path_of(std::int64_t object, std::string& path) const override {
    path = files_[static_cast<std::size_t>(object)].path;
  }
  std::vector<std::string> roots() const override { return roots_; }
  std::uint64_t stamp_of(std::int64_t object) const override {
    return files_[static_cast<std::size_t>(object)].stamp;
  }

 private:
  std::int64_t row_of(std::int64_t sample) const {
    return order_.empty() ? sample : order_[static_cast<std::size_t>(sample)];
  }
  const SampleGroup& batch_of(std::int64_t sample) const {
    return group_of(batches_, row_of(sample));
  }

  void add_batch(std::size_t file, std::size_t number, const SourceOptions& options) {
    const ArrowValues& values = files_[file].layout.batches[number];
    batches_.push_back({static_cast<std::int64_t>(file), static_cast<std::int64_t>(number), rows_,
                        values.rows, values.begin, values.length});
    rows_ += values.rows;
    if (!values.codec) return;
    is_packed_ = true;
    largest_ = std::max(largest_, values.length);
    largest_unpacked_ = std::max(largest_unpacked_, values.unpacked);
    if (std::max(values.length, values.unpacked) <= options.largest_sample) return;
    throw RunError(
        fmt::format("{}: record batch {} has {} in its column, more than the {} that are read at "
                    "once; write smaller ones, or without compression",
                    shown_text(files_[file].path), number,
                    show_size(static_cast<double>(std::max(values.length, values.unpacked))),
                    show_size(static_cast<double>(options.largest_sample))));
  }

  void add_notes() {
    const std::string name = shown_text(files_.front().layout.column.path);
    if (is_packed_)
      add_note(fmt::format("{}: record batches of {}, packed: each is read as a whole", name,
                           plural(batches_.front().samples, "row")));
    if (!order_.empty())
      add_note(fmt::format("{}: {} in the order of a file of indices", name,
                           plural(std::ssize(order_), "sample")));
  }

  void check_order() const {
    if (order_.empty()) return;
    if (is_packed_)
      throw UsageError(
          "data: indices is for files that are not packed; write these again by "
          "flatten_indices()");
    for (const std::int64_t row : order_) {
      if (row < 0 || row >= rows_)
        throw RunError(
            fmt::format("{}: has {}, and the indices name row {}; give the indices of "
                        "this data set",
                        shown_text(files_.front().path), plural(rows_, "row"), row));
    }
  }

  std::vector<std::string> roots_;
  ArrowFiles files_;
  std::vector<std::int64_t> order_;  // rows; empty: as they lie
  std::vector<SampleGroup> batches_;
  std::int64_t rows_ = 0;
  bool is_packed_ = false;
  Bytes largest_ = 0, largest_unpacked_ = 0;
};

ArrowFile opened_arrow_file(const std::string& path, const SourceOptions& options,
                            ChooseColumn choose, std::string_view column) {
  try {
    const std::unique_ptr<StoredObject> file = store_of(path).open(path);
    return {path, file->stamp().inode,
            read_arrow_layout(*file, choose, column, options.largest_sample)};
  } catch (const ValueError& error) {
    throw RunError(shown_text(path) + ": " + error.what());
  } catch (const SampleError& error) {
    throw RunError(shown_text(path) + ": " + error.what());
  }
}

// As select() and shuffle() of `datasets` leave it: the rows, one after another.
std::vector<std::int64_t> rows_in(const std::string& path, SourceOptions options) {
  options.paths = {path};
  ArrowFile file = opened_arrow_file(path, options, choose_class_column, "indices");
  const std::size_t width = file.layout.column.width;
  if (width != sizeof(std::int64_t))
    throw RunError(shown_text(path) + ": its column indices holds no numbers of 64 bits");
  const auto stored = store_of(path).open(path);
  std::vector<std::int64_t> rows;
  for (const ArrowValues& values : file.layout.batches) {
    if (values.codec) throw RunError(shown_text(path) + ": is packed, which indices never are");
    const auto count = static_cast<std::size_t>(values.rows), before = rows.size();
    rows.resize(before + count);
    stored->read(values.begin, std::as_writable_bytes(std::span(rows).subspan(before)));
  }
  if (rows.empty()) throw RunError(shown_text(path) + ": has no rows");
  return rows;
}

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_arrow(const SourceOptions& options, const SourceContext& context) {
  const std::string column = source::word_of(options.words, options.classes ? "label" : "column");
  const auto choose = options.classes ? source::choose_class_column : source::choose_image_column;
  const auto paths = source::arrow_files(options.paths);
  source::ArrowFiles files(paths.size());
  source::for_each_index(
      std::ssize(paths), "reading where samples begin", context, [&](std::int64_t i) {
        const auto place = static_cast<std::size_t>(i);
        files[place] = source::opened_arrow_file(paths[place], options, choose, column);
      });
  const std::string indices = source::word_of(options.words, "indices");
  auto order = indices.empty() ? std::vector<std::int64_t>() : source::rows_in(indices, options);
  auto source = std::make_unique<source::ArrowSource>(options, std::move(files), std::move(order));
  source->settle_access();
  return source;
}

}  // namespace loaderscope
