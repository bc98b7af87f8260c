// State with which a thread of `data pack` makes samples.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataset/pack_options.h"
#include "dataset/re_encoder.h"
#include "dataset/shard_fill.h"
#include "source/registry.h"

namespace loaderscope::dataset {

// Data set that is packed.
struct OpenedData {
  const SourceRow* row = nullptr;
  std::unique_ptr<Source> source;
  std::vector<std::int32_t> labels;  // empty: no labels, or the row knows them

  bool has_labels() const { return row->label != nullptr || !labels.empty(); }
  std::int32_t label(std::int64_t sample) const {
    if (row->label != nullptr) return row->label(*source, sample);
    return labels.empty() ? 0 : labels[static_cast<std::size_t>(sample)];
  }
};

// Throws RunError, UsageError.
OpenedData open_images(const std::string& data, const std::atomic<int>* stop_signal);

class SamplePacker final : public SampleMaker {
 public:
  // `order` has the samples. All arguments outlive it.
  SamplePacker(const OpenedData& data, const PackOptions& options,
               const std::vector<std::int64_t>& order);

  PackedSample make(std::int64_t place) override;
  // Packs a sample by its number. Valid until the next call. Throws SampleError.
  std::span<const std::byte> pack(std::int64_t sample);

  const PixelError* error() const { return recoder_ ? &recoder_->error() : nullptr; }
  Bytes stored_bytes = 0;         // bytes of all samples before packing
  std::int64_t as_they_were = 0;  // samples without restart markers

 private:
  std::string_view pick_suffix(std::int64_t sample, std::span<const std::byte> bytes);

  const OpenedData& data_;
  const std::vector<std::int64_t>& order_;
  std::unique_ptr<SampleReader> reader_;
  std::optional<ReEncoder> recoder_;
  bool restart_rows_;
  std::vector<std::byte> with_restarts_;
  std::string suffix_;
};

// Throws RunError.
PackPlan make_pack_plan(const OpenedData& data, const PackOptions& options);

}  // namespace loaderscope::dataset
