// Data that a run replays for knocked-out stages: a bounded number of samples, made before it
// begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loaderscope/augment.h"
#include "loaderscope/decode.h"
#include "loaderscope/engine.h"
#include "loaderscope/source.h"
#include "source/options.h"

namespace loaderscope::native {

// The real pipeline that the samples come from.
struct ReplaySource {
  const Source& source;
  SampleForm form;
  const DecodeOptions& decode;
  const AugmentOptions& augment;
};

// Error for data without a usable sample. `first` has the reason for one sample.
RunError none_usable(const Source& source, const std::string& first);

class ReplayPool {
 public:
  static constexpr std::int64_t kEpoch = 0;  // epoch of the draws for these samples

  // A sample with the results of the stages before the knock-outs.
  struct Sample {
    std::int64_t index = 0;  // index in the data set
    std::vector<std::byte> stored;
    AugmentRecipe recipe;
    std::vector<std::uint8_t> rgb;
    Pixels pixels;  // view of `rgb`: the region of the recipe

    Bytes bytes() const { return std::ssize(stored) + std::ssize(rgb); }
  };

  // Makes what the stages that are not among `knockouts` need of those that are. About `most_bytes`
  // are kept, of one sample at least. Throws RunError when no sample can be used, or when stopped.
  ReplayPool(const ReplaySource& from, const Knockouts& knockouts, std::uint64_t seed,
             Bytes most_bytes, const SourceContext& context);

  // Replacements for samples of the data set, if decoding or reading is knocked out.
  bool has_samples() const { return !samples_.empty(); }
  const Sample& substitute(std::int64_t sample) const {
    return samples_[static_cast<std::size_t>(sample) % samples_.size()];
  }
  // Copies finished samples into `slot`, one after the other. Requires a knock-out of augmenting.
  void fill(std::span<std::byte> slot) const;
  bool has_finished() const { return !finished_.empty(); }

  std::int64_t samples() const { return kept_; }
  Bytes bytes() const { return bytes_; }

 private:
  std::vector<Sample> samples_;
  std::vector<std::byte> finished_;
  std::int64_t kept_ = 0;
  Bytes bytes_ = 0;
};

}  // namespace loaderscope::native
