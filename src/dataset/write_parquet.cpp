// Parquet files: a row a sample, its image as `datasets` of Hugging Face has images (a structure of
// bytes and a path) and its label. Values lie in pages of version 1, each plain.
#include <fmt/format.h>

#include <vector>

#include "dataset/files.h"
#include "dataset/writer.h"
#include "source/page_codec.h"
#include "source/thrift.h"

namespace loaderscope::dataset {
namespace {

using source::ThriftWriter;

constexpr std::string_view kFileMark = "PAR1";
constexpr std::size_t kPageBytes = std::size_t{1} << 20;  // about
constexpr std::int64_t kPlain = 0, kRuns = 3;             // encodings
constexpr std::int64_t kInt64 = 2, kByteArray = 6;        // types

std::span<const std::byte> text_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Metadata by which `datasets` recognises a column of images, and a label.
std::string huggingface_features(bool has_labels) {
  return fmt::format(R"({{"info": {{"features": {{"image": {{"_type": "Image"}}{}}}}}}})",
                     has_labels ? R"(, "label": {"dtype": "int64", "_type": "Value"})" : "");
}

// One column of a row group: its stored pages, and their facts for the footer.
class ColumnPages {
 public:
  ColumnPages(std::vector<std::string> path, std::int64_t type, const CompressionRow* compression)
      : path_(std::move(path)), type_(type), compression_(compression) {}

  void add(std::span<const std::byte> value) {
    if (type_ == kByteArray) {
      const auto size = static_cast<std::uint32_t>(value.size());
      put(values_, std::as_bytes(std::span(&size, 1)));
    }
    put(values_, value);
    ++rows_of_page_;
    if (values_.size() >= kPageBytes) end_page();
  }

  // Writes the pages, and returns the footer's facts of the column.
  std::string write(OutputFile& to) {
    end_page();
    const Bytes begin = to.bytes();
    to.append(pages_);
    const std::string facts = ThriftWriter()
                                  .i32(1, type_)
                                  .i32s(2, {kPlain, kRuns})
                                  .texts(3, path_)
                                  .i32(4, codec())
                                  .i64(5, rows_)
                                  .i64(6, unpacked_)
                                  .i64(7, std::ssize(pages_))
                                  .i64(9, begin)
                                  .finish();
    pages_.clear();
    rows_ = unpacked_ = 0;
    return ThriftWriter().i64(2, begin).structure(3, facts).finish();
  }

 private:
  static void put(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
  }

  std::int64_t codec() const {
    return compression_ == nullptr ? source::kStoredAsIs
                                   : source::page_codec_called(compression_->page_word).number;
  }

  void end_page() {
    if (rows_of_page_ == 0) return;
    put_levels();
    std::vector<std::byte> packed;
    if (compression_ != nullptr) {
      const auto packer = compression_->make_packer();
      packer->expect(values_.size());
      packer->pack(values_, packed);
      packer->finish(packed);
    }
    const std::vector<std::byte>& stored = compression_ != nullptr ? packed : values_;
    const std::string about =
        ThriftWriter().i32(1, rows_of_page_).i32(2, kPlain).i32(3, kRuns).i32(4, kRuns).finish();
    const std::string head = ThriftWriter()
                                 .i32(1, 0)
                                 .i32(2, std::ssize(values_))
                                 .i32(3, std::ssize(stored))
                                 .structure(5, about)
                                 .finish();
    put(pages_, text_bytes(head));
    put(pages_, stored);
    unpacked_ += std::ssize(head) + std::ssize(values_);
    rows_ += rows_of_page_;
    rows_of_page_ = 0;
    values_.clear();
  }

  // Writes that no row of the page is null: a run of one number, after its length and the length of
  // the levels.
  void put_levels() {
    std::string run;
    auto left = static_cast<std::uint64_t>(rows_of_page_) << 1;
    for (; left >= 0x80; left >>= 7) run += static_cast<char>(left | 0x80);
    run += static_cast<char>(left);
    run += static_cast<char>(path_.size());
    const auto size = static_cast<std::uint32_t>(run.size());
    const auto head = std::as_bytes(std::span(&size, 1)), levels = text_bytes(run);
    values_.insert(values_.begin(), levels.begin(), levels.end());
    values_.insert(values_.begin(), head.begin(), head.end());
  }

  std::vector<std::string> path_;
  std::int64_t type_;
  const CompressionRow* compression_;
  std::vector<std::byte> values_, pages_;  // page in progress; complete pages
  std::int64_t rows_of_page_ = 0, rows_ = 0, unpacked_ = 0;
};

// May be null, as `datasets` has it, and never is.
constexpr std::int64_t kOptional = 1;

std::string leaf(std::string_view name, std::int64_t type, bool is_text) {
  ThriftWriter element;
  element.i32(1, type).i32(3, kOptional).text(4, name);
  if (is_text)
    element.i32(6, 0).structure(10, ThriftWriter().structure(1, std::string(1, '\0')).finish());
  return element.finish();
}

class ParquetWriter final : public ShardWriter {
 public:
  ParquetWriter(const Container& container, std::int64_t shard)
      : container_(container), file_(parquet_path(container, shard)) {
    columns_.emplace_back(std::vector<std::string>{"image", "bytes"}, kByteArray,
                          container.compression);
    columns_.emplace_back(std::vector<std::string>{"image", "path"}, kByteArray,
                          container.compression);
    if (has_labels())
      columns_.emplace_back(std::vector<std::string>{"label"}, kInt64, container.compression);
    file_.append(text_bytes(kFileMark));
  }

  void add(const PackedSample& sample) override {
    columns_[0].add(sample.bytes);
    columns_[1].add(text_bytes(sample_key(sample.number) + std::string(sample.suffix)));
    const std::int64_t label = sample.label;
    if (has_labels()) columns_[2].add(std::as_bytes(std::span(&label, 1)));
    if (++rows_ == container_.row_group) end_group();
  }

  void finish() override {
    end_group();
    const std::string footer = footer_text();
    const auto size = static_cast<std::uint32_t>(footer.size());
    file_.append(text_bytes(footer));
    file_.append(std::as_bytes(std::span(&size, 1)));
    file_.append(text_bytes(kFileMark));
    file_.finish();
  }
  Bytes bytes() const override { return file_.bytes(); }

 private:
  bool has_labels() const { return container_.plan.classes > 0; }

  void end_group() {
    if (rows_ == 0) return;
    const Bytes begin = file_.bytes();
    std::vector<std::string> columns;
    for (ColumnPages& column : columns_) columns.push_back(column.write(file_));
    groups_.push_back(
        ThriftWriter().structures(1, columns).i64(2, file_.bytes() - begin).i64(3, rows_).finish());
    all_rows_ += rows_;
    rows_ = 0;
  }

  std::string footer_text() const {
    std::vector<std::string> schema = {
        ThriftWriter().text(4, "schema").i32(5, has_labels() ? 2 : 1).finish(),
        ThriftWriter().i32(3, kOptional).text(4, "image").i32(5, 2).finish(),
        leaf("bytes", kByteArray, false), leaf("path", kByteArray, true)};
    if (has_labels()) schema.push_back(leaf("label", kInt64, false));
    const std::string features =
        ThriftWriter().text(1, "huggingface").text(2, huggingface_features(has_labels())).finish();
    return ThriftWriter()
        .i32(1, 1)
        .structures(2, schema)
        .i64(3, all_rows_)
        .structures(4, groups_)
        .structures(5, {features})
        .text(6, "loaderscope")
        .finish();
  }

  const Container& container_;
  OutputFile file_;
  std::vector<ColumnPages> columns_;
  std::vector<std::string> groups_;
  std::int64_t rows_ = 0, all_rows_ = 0;  // rows of the group in progress; rows of complete groups
};

}  // namespace

std::unique_ptr<ShardWriter> open_parquet_writer(const Container& container, std::int64_t shard) {
  return std::make_unique<ParquetWriter>(container, shard);
}

}  // namespace loaderscope::dataset
