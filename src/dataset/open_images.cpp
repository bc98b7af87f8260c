// The images that are packed, of any source.
#include <fmt/format.h>

#include <charconv>

#include "dataset/sample_packer.h"

namespace loaderscope::dataset {
namespace {

std::unique_ptr<Source> opened_as(const SourceRow& row, const std::string& data,
                                  const std::atomic<int>* stop_signal) {
  SourceContext listing;
  listing.stop_signal = stop_signal;
  return open_source(row.row.name, {data}, {}, listing);
}

// Nothing where not every sample has one, or one is no number.
std::vector<std::int32_t> labels_in(const Source& texts, std::int64_t samples) {
  std::vector<std::int32_t> labels;
  if (texts.size() != samples) return labels;
  const auto reader = texts.make_reader();
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    const std::span<const std::byte> bytes = reader->read(sample);
    const auto* begin = reinterpret_cast<const char*>(bytes.data());
    std::int32_t label = 0;
    const auto [end, error] = std::from_chars(begin, begin + bytes.size(), label);
    if (error != std::errc() || label < 0) return {};
    labels.push_back(label);
  }
  return labels;
}

void read_labels(const std::string& path, const std::atomic<int>* stop_signal, OpenedData& data) {
  const SourceRow& row = *data.row;
  if (row.label_words.empty()) return;
  try {
    const auto texts =
        opened_as(row, fmt::format("{}:{}?{}", row.row.name, path, row.label_words), stop_signal);
    data.labels = labels_in(*texts, data.source->size());
  } catch (const RunError&) {     // there are none
  } catch (const SampleError&) {  // one of them cannot be read
  }
}

}  // namespace

OpenedData open_images(const std::string& data, const std::atomic<int>* stop_signal) {
  const DataText said = parse_data(data, "");
  const SourceRow& row = said.row != nullptr ? *said.row : source_row("files");
  if (row.form != SampleForm::image)
    throw UsageError(
        fmt::format("SOURCE: {} data hold no images; images can be packed", row.row.name));
  OpenedData opened{&row, opened_as(row, data, stop_signal), {}};
  if (opened.source->size() == Source::kUnknownSize)
    throw UsageError("SOURCE: a stream is not packed; leave stream=1 out");
  read_labels(said.path, stop_signal, opened);
  return opened;
}

}  // namespace loaderscope::dataset
