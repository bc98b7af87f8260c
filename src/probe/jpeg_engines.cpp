// JPEG decoding by the GPU: with its engines and with its CUDA kernels, for sizes and batches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <memory>
#include <optional>

#include "analysis/wording.h"
#include "base/quantiles.h"
#include "loaderscope/errors.h"
#include "probe/jpeg_loop.h"
#include "probe/measurement.h"
#include "probe/pixel_line.h"

namespace loaderscope::probe {
namespace {

using cuda::nvjpeg::Backend;

constexpr ImageSize kAllSizes[] = {{224, 224}, {500, 375}, {1280, 720}, {1920, 1080}};
constexpr ImageSize kQuickSizes[] = {{500, 375}, {1280, 720}};
constexpr ImageSize kAnsweredSize{500, 375};
constexpr int kLineBatch = 64;  // the batch whose rates give the line
constexpr int kBatches[] = {kLineBatch, 32, 256};
// Pieces of the shortest measurement: two that lead, one that counts, and two in flight.
constexpr double kMinPieces = 5;
constexpr double kMoment = 0.5;  // seconds

// CPU time of all threads of the process.
double process_cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Images of one size in batches of one size.
struct JpegCase {
  const LockedImages* images = nullptr;
  int batch = 0;

  std::string name() const { return fmt::format("{}_{}", images->size.text(), batch); }
};

class JpegEnginesRow {
 public:
  JpegEnginesRow(const ProbeContext& probing, Outcome& outcome)
      : probing_(probing), outcome_(outcome), gpu_(probing), nvjpeg_(gpu_.find_nvjpeg()) {}

  void measure() {
    const std::vector<Backend> backends = find_backends();
    const std::vector<ImageSize> sizes = choose_sizes();
    const PixelPlaces places(gpu_, sizes.back());
    for (const ImageSize& size : sizes) {
      if (!probing_.is_running()) break;
      images_.push_back(make_locked_images(gpu_, size));
    }
    outcome_.facts.push_back({"nvJPEG", nvjpeg_->version().text()});
    for (std::size_t i = 0; i < backends.size() && probing_.is_running(); ++i) {
      measure_backend(backends[i], places, backends.size() - i);
      if (i == 0 && !rates_.empty()) answer(backends.front());
    }
    if (rates_.empty()) throw RunError("it was stopped");
  }

 private:
  std::vector<Backend> find_backends() {
    const cuda::JpegEngines found = cuda::ask_for_engines(*nvjpeg_);
    who_ = "CUDA kernels";
    if (found.are_missing()) {
      who_ = "no JPEG engines, CUDA kernels";
      add("engines", "count", 0, "");
    } else if (!found.are_usable()) {
      outcome_.notes.push_back(fmt::format("JPEG engines are not measured: nvJPEG reports {}",
                                           cuda::name_of(found.code)));
    }
    if (!found.are_usable()) return {Backend::gpu_hybrid};
    who_ = plural(found.count, "JPEG engine");
    add("engines", "count", found.count, "");
    add("cores", "count", found.cores, "");
    if (probing_.options.quick) return {Backend::hardware};
    return {Backend::hardware, Backend::gpu_hybrid};
  }

  // The sizes that the GPU has memory for.
  std::vector<ImageSize> choose_sizes() {
    std::vector<ImageSize> sizes(std::begin(kAllSizes), std::end(kAllSizes));
    if (probing_.options.quick) sizes.assign(std::begin(kQuickSizes), std::end(kQuickSizes));
    const std::size_t usable = gpu_.usable_memory();
    while (PixelPlaces::needed_memory(sizes.back()) > usable) {
      outcome_.notes.push_back(fmt::format(
          "JPEG images of {} are not measured: they need {} of GPU memory", sizes.back().text(),
          format_size(static_cast<double>(PixelPlaces::needed_memory(sizes.back())))));
      sizes.pop_back();
      if (sizes.empty()) throw RunError("there is too little free GPU memory for it");
    }
    return sizes;
  }

  // First all sizes in the batches of the line, then the other batches as far as the time goes.
  void measure_backend(Backend backend, const PixelPlaces& places, std::size_t backends_left) {
    ProbedDecoder decoder(gpu_, nvjpeg_, backend, places);
    const Nanos until = monotonic_now() + probing_.left() / static_cast<Nanos>(backends_left);
    std::size_t cases_left = images_.size() * (probing_.options.quick ? 1 : std::size(kBatches));
    std::vector<std::string> left_out;
    std::vector<TimedSize> line;
    for (const int batch : kBatches) {
      if (batch != kLineBatch && probing_.options.quick) break;
      for (const LockedImages& images : images_) {
        const Nanos left = std::max<Nanos>(until - monotonic_now(), 0);
        const JpegCase one{&images, batch};
        if (!fits(way(backend), one, left)) {
          left_out.push_back(one.name());
        } else if (!measure_case(decoder, one, left / static_cast<Nanos>(cases_left), line)) {
          return;
        }
        --cases_left;
      }
    }
    if (!left_out.empty())
      outcome_.notes.push_back(
          fmt::format("{}: no time for {}", way(backend), fmt::join(left_out, ", ")));
    add_line(backend, line);
  }

  // Asks whether the shortest measurement ends in time, by the rate in the batches of the line. A
  // size without a rate is compared with the one before it. It may take a moment longer, because
  // the line needs two sizes.
  bool fits(const std::string& name, const JpegCase& one, Nanos left) const {
    const ImageSize& size = one.images->size;
    double image_s = 0;
    bool is_known = false;
    for (const MeasuredRate& rate : rates_) {
      if (rate.name != name || is_known) continue;
      is_known = rate.size == size;
      image_s = size.pixels() / rate.size.pixels() / rate.per_s;
    }
    const double allowed = is_known ? seconds(left) : std::max(seconds(left), kMoment);
    return kMinPieces * one.batch * image_s <= allowed;
  }

  // Returns false for a stop.
  bool measure_case(ProbedDecoder& decoder, const JpegCase& one, Nanos time,
                    std::vector<TimedSize>& line) {
    JpegLoop loop(decoder, *one.images, one.batch);
    const double cpu_before = process_cpu_s();
    if (!gpu_.run(loop, time)) return false;
    const double cpu_s = (process_cpu_s() - cpu_before) / static_cast<double>(loop.submitted());
    const Rate pieces = loop.pieces_per_s();
    const double per_s = pieces.per_s * one.batch;
    const std::string name = way(decoder);
    Figure figure{fmt::format("{}_{}", name, one.name()), "1/s", per_s, pieces.noise,
                  condition(*one.images)};
    figure.series = fmt::format("{}, {}", name, one.images->size.text());
    figure.at = one.batch;
    outcome_.figures.push_back(figure);
    rates_.push_back({name, one.images->size, per_s});
    if (one.batch != kLineBatch) return true;
    line.push_back({one.images->size.pixels(), 1 / per_s});
    cpu_times_[name].push_back(cpu_s);
    add(fmt::format("{}_cpu_{}", name, one.images->size.text()), "s", cpu_s, condition(*one.images),
        false);
    return true;
  }

  void add_line(Backend backend, const std::vector<TimedSize>& sizes) {
    const std::optional<PixelLine> line = fit_pixel_line(sizes);
    if (!line) return;
    const std::string name = way(backend);
    const double cpu_s = find_median(cpu_times_[name]);
    add(name + "_image_s", "s", line->image_s, version(), false);
    add(name + "_pixels_per_s", "1/s", line->pixels_per_s, version(), false);
    add(name + "_cpu_s", "s", cpu_s, version(), false);
    outcome_.lines.push_back(
        fmt::format("JPEG by {}: {} an image and {:.3g} MP/s, {} of CPU time an image",
                    backend == Backend::hardware ? "the engines" : "CUDA kernels",
                    format_duration(std::llround(line->image_s * 1e9)), line->pixels_per_s / 1e6,
                    format_duration(std::llround(cpu_s * 1e9))));
  }

  void answer(Backend best) {
    double most = 0;
    ImageSize size = kAnsweredSize;
    const auto has_size = [&](const MeasuredRate& rate) { return rate.size == size; };
    if (std::none_of(rates_.begin(), rates_.end(), has_size)) size = rates_.front().size;
    for (const MeasuredRate& rate : rates_) {
      if (rate.name == way(best) && has_size(rate)) most = std::max(most, rate.per_s);
    }
    outcome_.answer = fmt::format("{}: {} images/s of {}", who_, format_rate(most), size.text());
  }

  void add(const std::string& name, const char* unit, double value, const std::string& like,
           bool is_compared = true) {
    Figure figure{name, unit, value, 0, like};
    figure.is_compared = is_compared;
    outcome_.figures.push_back(figure);
  }

  std::string version() const { return "nvJPEG " + nvjpeg_->version().text(); }
  std::string condition(const LockedImages& images) const {
    return fmt::format("{}, {}", two_digits(images.mean_bytes), version());
  }
  static std::string way(Backend backend) {
    return backend == Backend::hardware ? "engines" : "cuda";
  }
  static std::string way(ProbedDecoder& decoder) {
    return decoder.engines() > 0 ? "engines" : "cuda";
  }

  struct MeasuredRate {
    std::string name;
    ImageSize size;
    double per_s = 0;
  };

  const ProbeContext& probing_;
  Outcome& outcome_;
  ProbedGpu gpu_;
  std::shared_ptr<cuda::Nvjpeg> nvjpeg_;
  std::string who_;  // decoder in the answer
  std::vector<LockedImages> images_;
  std::vector<MeasuredRate> rates_;
  std::map<std::string, std::vector<double>> cpu_times_;
};

}  // namespace

void measure_jpeg_engines(const ProbeContext& probing, Outcome& outcome) {
  JpegEnginesRow(probing, outcome).measure();
}

}  // namespace loaderscope::probe
