// The images that are packed, of any source.
#include <fmt/format.h>

#include "dataset/sample_classes.h"
#include "dataset/sample_packer.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"

namespace loaderscope::dataset {

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
