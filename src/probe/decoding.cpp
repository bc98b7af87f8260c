// Decoding of whole images: by one core, by more, and by all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/wording.h"
#include "loaderscope/decode.h"
#include "probe/made_images.h"
#include "probe/measurement.h"

namespace loaderscope::probe {
namespace {

std::vector<StoredImage> stored_images(const ProbedData& data, const std::atomic<int>& stop) {
  constexpr std::size_t kMax = 64;
  std::vector<StoredImage> images;
  const auto reader = data.source()->make_reader();
  if (!reader) return images;
  Bytes sum = 0;
  const std::int64_t size = data.source()->size();
  for (std::size_t i = 0; i < kMax && 2 * sum < data.image_bytes() && stop.load() == 0; ++i) {
    const auto sample = static_cast<std::int64_t>(i * 7919 % static_cast<std::size_t>(size));
    try {
      const auto stored = reader->read(sample);
      make_any_decoder({})->open(stored);  // throws for images that cannot be decoded, which are
                                           // left out
      images.emplace_back(stored.begin(), stored.end());
      sum += std::ssize(stored);
    } catch (const SampleError&) {
      continue;
    }
  }
  return images;
}

// One thread's, over all images again and again.
Work decoding_work(const std::vector<StoredImage>& images, std::size_t first) {
  return [&images, at = first, decoder = std::shared_ptr(make_any_decoder({}))]() mutable {
    const ImageHeader header = decoder->open(images[at++ % images.size()]);
    decoder->decode({0, 0, header.width, header.height});
    return 1.0;
  };
}

Figure decode_figure(int threads, const Rate& rate, const std::string& condition) {
  Figure figure{fmt::format("threads_{}", threads), "1/s", rate.per_s, rate.noise, condition};
  figure.series = "images decoded";
  figure.at = threads;
  return figure;
}

}  // namespace

std::vector<Work> decoding_of_made_images(std::size_t threads) {
  const auto images = std::make_shared<const std::vector<StoredImage>>(make_default_images());
  std::vector<Work> works;
  for (std::size_t i = 0; i < threads; ++i)
    works.push_back([images, work = decoding_work(*images, i)] { return work(); });
  return works;
}

void measure_decoding(const ProbeContext& probing, Outcome& outcome) {
  const bool is_of_data = probing.data.source() != nullptr && probing.data.why_none().empty();
  if (is_of_data && !probing.data.has_images())
    throw RunError("the data are no images: nothing is decoded");
  const std::vector<StoredImage> images =
      is_of_data ? stored_images(probing.data, probing.stop) : make_default_images();
  if (images.empty()) throw RunError("none of the first samples of the data can be decoded");
  const double bytes = mean_bytes(images);
  const std::string what =
      (is_of_data ? "images of the data of " : "made images of ") + two_digits(bytes);

  const CpuSet& cores = probing.cpus.one_of_each_core;
  const CpuSet& all = probing.cpus.all;
  // More threads than the quota has cores are held back by it.
  const auto most = [&](std::size_t cpus) {
    return std::max(
        1, static_cast<int>(std::min(static_cast<double>(cpus), std::ceil(probing.cpus.usable))));
  };
  const int physical = most(cores.size()), logical = most(all.size());
  std::vector<int> levels = doublings(physical);
  if (logical > physical) levels.push_back(logical);
  const Nanos time = probing.left() / std::ssize(levels);
  double one = 0;
  Rate last;
  for (const int threads : levels) {
    std::vector<Work> works;
    for (int i = 0; i < threads; ++i)
      works.push_back(decoding_work(images, static_cast<std::size_t>(i)));
    last = measure_rate(works, threads <= physical ? cores : all, time, probing.stop);
    if (!probing.is_running()) break;
    if (threads == 1) one = last.per_s;
    outcome.figures.push_back(decode_figure(threads, last, what));
  }
  if (outcome.figures.empty()) throw RunError("it was stopped");
  const Figure best = *std::max_element(outcome.figures.begin(), outcome.figures.end(),
                                        [](auto& a, auto& b) { return a.value < b.value; });
  const Figure all_cores = outcome.figures.back();
  const double per_core = all_cores.value / std::min(all_cores.at, probing.cpus.usable);
  outcome.figures.push_back({"per_core", "1/s", per_core, last.noise, what});
  outcome.ceilings.push_back({.supply = MachineResource::decoding,
                              .per_s = best.value,
                              .per_core_s = per_core,
                              .sample_bytes = bytes});
  outcome.answer = fmt::format("{} decode {} images/s", format_cores(probing.cpus.usable),
                               format_rate(all_cores.value));
  if (best.at < all_cores.at)  // more threads only take from each other
    outcome.answer +=
        fmt::format(", and {} {}", plural(static_cast<std::int64_t>(best.at), "thread"),
                    format_rate(best.value));
  std::string line = "decode, " + what;
  if (one > 0 && outcome.figures.size() > 2)
    line += fmt::format(": {}/s per core with all, {} of one alone", format_rate(per_core),
                        format_percent(per_core / one));
  if (logical > physical) line += fmt::format("; {} cores with SMT", physical);
  outcome.lines.push_back(line);
}

}  // namespace loaderscope::probe
