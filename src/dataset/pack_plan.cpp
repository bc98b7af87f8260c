// Plan of the output of packing a data set.
#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "dataset/random.h"
#include "dataset/sample_packer.h"

namespace loaderscope::dataset {
namespace {

constexpr std::int64_t kDrawn = 64;       // samples at most by which the size of all is estimated
constexpr double kPerMember = 512 + 256;  // overhead of tar, the largest: a header, half a block

// Mean bytes of a packed sample, by some of them; 0: none of those can be read.
double bytes_of_sample(const OpenedData& data, const PackOptions& options, ImageSides& sides) {
  const std::vector<std::int64_t> no_order;
  SamplePacker packer(data, options, no_order);
  Random random(0, 0);
  double sum = 0;
  std::int64_t read = 0;
  const std::int64_t drawn = std::min(kDrawn, data.source->size());
  for (std::int64_t i = 0; i < drawn; ++i) {  // one of each stretch of the data
    const double at = (static_cast<double>(i) + random.uniform()) / static_cast<double>(drawn);
    const auto sample = static_cast<std::int64_t>(at * static_cast<double>(data.source->size()));
    try {
      const std::span<const std::byte> packed = packer.pack(sample);
      sum += static_cast<double>(packed.size());
      if (options.writer->takes_pixels && read == 0) sides = sides_of(packed);
      ++read;
    } catch (const SampleError&) {  // packing counts it
    }
  }
  return read > 0 ? sum / static_cast<double>(read) : 0;
}

// Returns the name below the roots of its data, which may be moved.
std::string_view name_below(std::string_view place, const std::vector<std::string>& roots) {
  for (const std::string& root : roots) {
    if (place.starts_with(root)) return place.substr(root.size());
  }
  return place;
}

}  // namespace

PackPlan plan_of(const OpenedData& data, const PackOptions& options) {
  PackPlan plan;
  const Source& source = *data.source;
  plan.samples = source.size();
  const std::vector<std::string> roots =
      source.stored_in() != nullptr ? source.stored_in()->roots() : std::vector<std::string>();
  std::int64_t largest = 0;
  bool has_several = false;
  for (std::int64_t sample = 0; sample < plan.samples; ++sample) {
    const std::string place = source.describe(sample);
    for (const char c : name_below(place, roots))
      plan.digest = mixed(plan.digest ^ static_cast<unsigned char>(c));
    const std::int32_t label = data.label(sample);
    plan.digest = mixed(plan.digest, label);
    largest = std::max<std::int64_t>(largest, label);
    has_several = has_several || label != data.label(0);
  }
  plan.classes = has_several ? largest + 1 : 0;
  if (options.most > 0) plan.samples = std::min(plan.samples, options.most);
  const double members = plan.classes > 0 ? 2 : 1;
  plan.bytes = static_cast<double>(plan.samples) *
               (bytes_of_sample(data, options, plan.sides) + members * kPerMember);
  const double shards = std::ceil(plan.bytes / static_cast<double>(options.shard_size));
  plan.shards = std::clamp<std::int64_t>(static_cast<std::int64_t>(shards), 1, plan.samples);
  return plan;
}

}  // namespace loaderscope::dataset
