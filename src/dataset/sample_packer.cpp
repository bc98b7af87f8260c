#include "dataset/sample_packer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "dataset/sample_classes.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"

namespace loaderscope::dataset {
namespace {

constexpr std::int64_t kCompareEvery = 20;  // samples: of one of them the pixels are compared

}  // namespace

SamplePacker::SamplePacker(const OpenedData& data, const PackOptions& options,
                           const std::vector<std::int64_t>& order)
    : data_(data),
      order_(order),
      reader_(data.source->make_reader()),
      restart_rows_(options.restart_rows) {
  if (options.encode) recoder_.emplace(options);
}

std::span<const std::byte> SamplePacker::pack(std::int64_t sample) {
  const std::span<const std::byte> stored = reader_->read(sample);
  stored_bytes += std::ssize(stored);
  const std::span<const std::byte> made = recoder_ ? recoder_->recode(sample, stored) : stored;
  if (!restart_rows_) return made;
  if (format_row(Format::jpeg).add_restarts(made, with_restarts_)) return with_restarts_;
  ++as_they_were;
  return made;
}

PackedSample SamplePacker::make(std::int64_t place) {
  const std::int64_t sample = order_[static_cast<std::size_t>(place)];
  const std::span<const std::byte> bytes = pack(sample);
  if (recoder_ && sample % kCompareEvery == 0) recoder_->measure_error();
  return {sample, pick_suffix(sample, bytes), bytes, data_.label(sample)};
}

// Returns the suffix of an unchanged file, or else the suffix of the format of its bytes.
std::string_view SamplePacker::pick_suffix(std::int64_t sample, std::span<const std::byte> bytes) {
  const Extents* extents = data_.source->extents();
  const bool is_file = extents != nullptr && extents->extent(sample).length == Extent::kToEnd;
  if (recoder_ || !is_file) {
    const std::string_view suffix = suffix_of_image(bytes);
    if (!suffix.empty()) return suffix;
    throw SampleError(SampleError::Kind::unsupported,
                      "is of no image format that is packed as it is", "give --encode jpeg:90");
  }
  suffix_ = std::filesystem::path(data_.source->describe(sample)).extension().string();
  std::transform(suffix_.begin(), suffix_.end(), suffix_.begin(),
                 [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return suffix_;
}

// The images that are packed, of any source.

OpenedData open_images(const std::string& data, const std::atomic<int>* stop_signal) {
  DataText said = parse_data(data, "");
  if (said.row == nullptr) said.row = &source_row("files");
  const SourceRow& row = *said.row;
  if (source_traits(row.row.name).form != SampleForm::image)
    throw UsageError(fmt::format("SOURCE: {} data hold no images", row.row.name),
                     "give data with images");
  SourceContext listing;
  listing.stop_signal = stop_signal;
  OpenedData opened{&row, open_source(row.row.name, {data}, {}, listing), {}};
  if (opened.source->size() == Source::kUnknownSize)
    throw UsageError("SOURCE: a stream is not packed", "leave stream=1 out");
  opened.labels = class_numbers(said, opened.source->size(), stop_signal);
  return opened;
}

}  // namespace loaderscope::dataset
