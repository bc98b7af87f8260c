// Samples of formats that store more with each than the sample: by any way of reading.
#include <optional>
#include <utility>

#include "source/access.h"

namespace loaderscope::source {
namespace {

class PartReader final : public SampleReader {
 public:
  PartReader(std::unique_ptr<SampleReader> extents, PartOfExtent part, const ReadCounts& counts)
      : extents_(std::move(extents)), part_(std::move(part)), counts_(counts) {}

  std::span<const std::byte> read(std::int64_t sample) override {
    const std::span<const std::byte> extent = extents_->read(sample);
    extent_bytes_ = std::ssize(extent);
    const std::span<const std::byte> part = part_(sample, extent);
    counts_.count_no_sample(extent_bytes_);
    counts_.count_sample(std::ssize(part));
    return part;
  }
  void expect(std::span<const std::int64_t> samples) override { extents_->expect(samples); }
  int readahead_limit() const override { return extents_->readahead_limit(); }
  void set_listener(SubstageListener& stages) override { extents_->set_listener(stages); }
  std::optional<Bytes> stored_bytes() const override { return extent_bytes_; }

 private:
  std::unique_ptr<SampleReader> extents_;
  PartOfExtent part_;
  const ReadCounts& counts_;
  Bytes extent_bytes_ = 0;
};

}  // namespace

std::unique_ptr<SampleReader> ExtentSource::make_reader_of_parts(PartOfExtent part) const {
  return std::make_unique<PartReader>(access_.make_reader(), std::move(part), access_.counts());
}

}  // namespace loaderscope::source
