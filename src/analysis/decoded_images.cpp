#include "analysis/decoded_images.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/wording.h"

namespace loaderscope {

double DecodedImages::refusals() const {
  double sum = 0;
  for (const auto& [reason, images] : refused) sum += images;
  return sum;
}

std::string DecodedImages::refusal_words() const {
  std::vector<std::string> words;
  for (const auto& [reason, images] : refused)
    words.push_back(fmt::format("{} {}", reason, format_count(static_cast<std::int64_t>(images))));
  return fmt::format("{}", fmt::join(words, ", "));
}

DecodedImages decoded_images(const RunRecord& record) {
  constexpr std::string_view kRefused = "decode.refused_";
  const auto count = [&](std::string_view name) {
    return value_of(record.metrics, name).value_or(0);
  };
  DecodedImages images;
  images.engines = count(metric::decode_by_engines);
  images.cuda = count(metric::decode_by_cuda);
  images.cpu = count(metric::decode_by_cpu);
  for (const Metric& metric : record.metrics)
    if (metric.name.starts_with(kRefused))
      images.refused.emplace_back(metric.name.substr(kRefused.size()), metric.value);
  std::stable_sort(images.refused.begin(), images.refused.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return images;
}

}  // namespace loaderscope
