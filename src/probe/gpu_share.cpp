// Costs of decoding and augmentation by the GPU for a training that runs at the same time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "analysis/wording.h"
#include "base/quantiles.h"
#include "loaderscope/errors.h"
#include "probe/augment_loop.h"
#include "probe/jpeg_loop.h"
#include "probe/measurement.h"
#include "probe/training_loop.h"

namespace loaderscope::probe {
namespace {

constexpr int kShareRounds = 3;
constexpr Nanos kMaxSlice = kSecond / 2;
constexpr int kDecodedBatch = 64;
constexpr ImageSize kDecodedImage{500, 375};

// A training or a production: a loop with its rate alone in the present round.
struct NamedLoop {
  std::string name, words, condition;  // `words`: name for people
  GpuLoop* loop;
  double alone = 0;  // pieces per second
};

// Two loops that run at the same time: the shares of its speed that each keeps, one per round.
struct LoopPair {
  NamedLoop* training;
  NamedLoop* production;
  std::vector<double> training_kept{}, production_kept{};
};

Figure kept_figure(const NamedLoop& one, const NamedLoop& other, std::vector<double> shares) {
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  const double noise = (*most - *least) / 2;
  const double median = find_median(shares);
  return {fmt::format("{}_during_{}", one.name, other.name), "share", median,
          median > 0 ? noise / median : 0, one.condition + ", " + other.condition};
}

// JPEG decoding with all that it needs.
struct DecodedWork {
  PixelPlaces places;
  LockedImages images;
  ProbedDecoder decoder;
  JpegLoop loop;

  DecodedWork(ProbedGpu& gpu, const std::shared_ptr<cuda::Nvjpeg>& nvjpeg)
      : places(gpu, kDecodedImage),
        images(make_locked_images(gpu, kDecodedImage)),
        decoder(gpu, nvjpeg,
                cuda::ask_for_engines(*nvjpeg).are_usable() ? cuda::nvjpeg::Backend::hardware
                                                            : cuda::nvjpeg::Backend::gpu_hybrid,
                places),
        loop(decoder, images, kDecodedBatch) {}

  std::string condition() const {
    return fmt::format(
        "{} in batches of {} by {}", kDecodedImage.text(), kDecodedBatch,
        decoder.engines() > 0 ? plural(decoder.engines(), "engine") : std::string("CUDA"));
  }
};

class GpuShareRow {
 public:
  GpuShareRow(const ProbeContext& probing, Outcome& outcome)
      : probing_(probing),
        outcome_(outcome),
        gpu_(probing),
        products_(gpu_),
        copies_(gpu_),
        batch_(gpu_),
        augment_(gpu_, batch_, Transfer::f16) {}

  void measure() {
    if (!products_.calibrate() || !copies_.calibrate()) throw RunError("it was stopped");
    make_decoding();
    std::array training = {
        NamedLoop{"products", "matrix products", products_.description(), &products_},
        NamedLoop{"copies", "copies", copies_.description(), &copies_}};
    std::vector<NamedLoop> productions;
    if (decoding_)
      productions.push_back({"decode", "decoding", decoding_->condition(), &decoding_->loop});
    productions.push_back(
        {"augment", "augmentation",
         fmt::format("{} crops of {} to f16", kAugmentSide, kAugmentedImage.text()), &augment_});
    std::vector<LoopPair> pairs;
    for (NamedLoop& production : productions) {
      for (NamedLoop& one : training) pairs.push_back({&one, &production});
    }
    run_rounds(training, productions, pairs);
    add_pairs(pairs);
  }

 private:
  void make_decoding() {
    try {
      decoding_ = std::make_unique<DecodedWork>(gpu_, gpu_.find_nvjpeg());
    } catch (const RunError& error) {
      outcome_.notes.push_back(
          fmt::format("decoding during a training is not measured: {}", error.what()));
    }
  }

  void run_rounds(std::span<NamedLoop> training, std::span<NamedLoop> productions,
                  std::span<LoopPair> pairs) {
    const auto slices =
        static_cast<Nanos>(kShareRounds * (training.size() + productions.size() + pairs.size()));
    const Nanos slice = std::min(kMaxSlice, probing_.left() / slices);
    for (int round = 0; round < kShareRounds; ++round) {
      if (round > 0 && probing_.left() == 0) return;
      if (!run_alone(training, slice) || !run_alone(productions, slice)) return;
      std::vector<std::array<double, 2>> kept;
      for (const LoopPair& pair : pairs) {
        const std::array<GpuLoop*, 2> loops = {pair.training->loop, pair.production->loop};
        if (!gpu_.run(loops, slice)) return;
        kept.push_back({loops[0]->pieces_per_s().per_s / pair.training->alone,
                        loops[1]->pieces_per_s().per_s / pair.production->alone});
      }
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i].training_kept.push_back(kept[i][0]);
        pairs[i].production_kept.push_back(kept[i][1]);
      }
    }
  }

  // Returns false for a stop.
  bool run_alone(std::span<NamedLoop> loops, Nanos slice) {
    for (NamedLoop& one : loops) {
      if (!gpu_.run(*one.loop, slice)) return false;
      one.alone = one.loop->pieces_per_s().per_s;
    }
    return true;
  }

  void add_pairs(std::span<const LoopPair> pairs) {
    if (pairs.front().training_kept.empty()) throw RunError("it was stopped");
    std::map<std::string, std::vector<double>> taken;  // keys: productions
    for (const LoopPair& pair : pairs) {
      const Figure kept = kept_figure(*pair.training, *pair.production, pair.training_kept);
      const Figure own = kept_figure(*pair.production, *pair.training, pair.production_kept);
      taken[pair.production->name].push_back(std::max(1 - kept.value, 0.0));
      outcome_.figures.push_back(kept);
      outcome_.figures.push_back(own);
      outcome_.lines.push_back(
          fmt::format("{} of the GPU keep {} of their speed during {}, which keeps {} of its own",
                      pair.training->words, format_percent(kept.value), pair.production->words,
                      format_percent(own.value)));
    }
    const auto decode = taken.find("decode");
    outcome_.answer = decode != taken.end() ? answer("decoding", decode->second)
                                            : answer("augmentation", taken.at("augment"));
  }

  // "decoding takes 2 to 4 % of the training's speed"
  static std::string answer(const char* what, const std::vector<double>& taken) {
    const auto [least, most] = std::minmax_element(taken.begin(), taken.end());
    const double low = std::round(100 * *least), high = std::round(100 * *most);
    const std::string share = high < 1      ? "less than 1"
                              : low == high ? fmt::format("{:.0f}", high)
                                            : fmt::format("{:.0f} to {:.0f}", low, high);
    return fmt::format("{} takes {} % of the training's speed", what, share);
  }

  const ProbeContext& probing_;
  Outcome& outcome_;
  ProbedGpu gpu_;
  ProductLoop products_;
  DeviceCopyLoop copies_;
  AugmentBatch batch_;
  AugmentLoop augment_;
  std::unique_ptr<DecodedWork> decoding_;
};

}  // namespace

void measure_gpu_share(const ProbeContext& probing, Outcome& outcome) {
  GpuShareRow(probing, outcome).measure();
}

}  // namespace loaderscope::probe
