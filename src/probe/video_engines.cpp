// Decoding of a video by the engines of the first GPU (NVDEC), with one decoder and with more.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/wording.h"
#include "built_with.h"
#include "loaderscope/errors.h"
#include "probe/measurement.h"
#include "probe/probed_gpu.h"
#include "source/video.h"
#include "source/video_loop.h"

namespace loaderscope::probe {
namespace {

constexpr int kMaxDecoders = 8;  // an H100 has 7 engines

std::unique_ptr<source::VideoLoop> open_loop(const std::string& path, bool on_gpu) {
  if constexpr (built_with::kFfmpeg.is_built) return source::make_video_loop(path, on_gpu);
  throw RunError(describe_missing(built_with::kFfmpeg));
}

bool is_video(const std::string& path) {
  return std::any_of(std::begin(source::kVideoSuffixes), std::end(source::kVideoSuffixes),
                     [&](std::string_view suffix) { return path.ends_with(suffix); });
}

}  // namespace

VideoRates measure_video(const std::string& path, bool on_gpu, const ProbeContext& probing) {
  VideoRates video;
  const std::vector<int> levels = on_gpu ? doublings(kMaxDecoders) : std::vector<int>{1};
  const Nanos time = probing.left() / std::ssize(levels);
  for (const int decoders : levels) {
    std::vector<Work> works;
    for (int i = 0; i < decoders && probing.is_running(); ++i) {
      const auto loop = std::shared_ptr(open_loop(path, on_gpu));
      video.codec = loop->codec();
      works.emplace_back([loop] { return static_cast<double>(loop->decode()); });
    }
    if (!probing.is_running()) break;
    const Rate rate = measure_rate(works, probing.cpus.all, time, probing.stop);
    if (!probing.is_running()) break;
    video.rates.emplace_back(decoders, rate);
  }
  return video;
}

void measure_video_engines(const ProbeContext& probing, Outcome& outcome) {
  const std::string& path = probing.data.file();
  if (!is_video(path)) throw RunError("it needs --data with videos");
  usable_runtime(probing);
  const VideoRates video = measure_video(path, true, probing);
  if (video.rates.empty()) throw RunError("it was stopped");
  double best = 0;
  for (const auto& [decoders, rate] : video.rates) {
    Figure figure{fmt::format("decoders_{}", decoders), "1/s", rate.per_s, rate.noise, video.codec};
    figure.series = "video frames decoded";
    figure.at = decoders;
    outcome.figures.push_back(figure);
    best = std::max(best, rate.per_s);
  }
  outcome.answer = fmt::format("the GPU decodes {} video frames/s", format_rate(best));
  outcome.lines.push_back(fmt::format("{} frames/s of {}, {}: {} with one decoder",
                                      format_rate(best),
                                      std::filesystem::path(path).filename().string(), video.codec,
                                      format_rate(video.rates.front().second.per_s)));
}

}  // namespace loaderscope::probe
