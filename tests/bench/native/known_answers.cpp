#include "bench/native/known_answers.h"

#include <algorithm>
#include <cmath>

#include "bench/native/photos.h"
#include "engine/model/model_engine.h"
#include "engine/native/native_engine.h"
#include "loaderscope/analysis.h"

namespace loaderscope::bench {
namespace {

struct Pipeline {
  const char* name;
  const char* lines;
};

// Defaults of all pipelines: 60 steps of 16 samples, 16 ms of compute per step.
constexpr const char* kCommon =
    "steps = 60\nwarmup = 5\nbatch-size = 16\ncompute = 16ms\nnum-workers = 2\ndevice = sim\n";

constexpr Pipeline kPipelines[] = {
    {"compute-bound", "cost = decode=500us:sleep\n"},
    {"read-bound", "cost = read=4ms\n"},
    {"decode-bound", "cost = decode=3ms:sleep\n"},
    {"read + decode + augment",
     "cost = read=1ms\ncost = decode=2ms:sleep\ncost = augment=1ms:sleep\n"},
    {"four workers", "num-workers = 4\ncost = read=2ms\ncost = decode=4ms:sleep\n"},
    {"inline", "num-workers = 0\ncost = read=500us\ncost = decode=1ms:sleep\n"},
    {"collate-bound", "cost = decode=200us:sleep\ncost = collate=40ms:sleep\n"},
    {"copy-bound, one stream", "copy = sync\ncost = decode=500us:sleep\ncost = h2d=9ms\n"},
    {"launch-bound", "cost = decode=500us:sleep\ncost = launch=20ms:sleep\nin-flight = 1\n"},
    {"pin thread", "memory = pin-thread\ncost = decode=500us:sleep\ncost = pin=24ms:sleep\n"},
    {"transport", "cost = decode=500us:sleep\ncost = transport=45ms:sleep\n"},
    {"late read, in order", "cost = decode=1500us:sleep\ninject = read=+60ms@every=160\n"},
    {"lognormal decode", "cost = decode=lognormal:2500us:0.5:sleep\n"},
    {"sample tasks", "task = sample\nwindow = 4\ncost = read=1ms\ncost = decode=2ms:sleep\n"},
    {"decode on the device",
     "decode = hw\ncost = read=500us\ncost = gpu-decode=1500us\n"
     "cost = gpu-augment=50us\n"},
    {"augment on the device",
     "augment-on = gpu\ncost = decode=500us:sleep\ncost = gpu-augment=1500us\n"},
    {"decode on both",
     "decode = split:0.5\ncost = read=500us\ncost = decode=4ms:sleep\n"
     "cost = gpu-decode=1ms\ncost = gpu-augment=50us\n"},
    {"reads for the device",
     "decode = hw\ncost = read=4ms\ncost = gpu-decode=500us\ncost = gpu-augment=50us\n"},
    {"few slots on the device",
     "decode = hw\nin-flight = 1\ndevice-prefetch = 1\ncost = read=500us\n"
     "cost = gpu-decode=800us\ncost = gpu-augment=400us\n"},
    {"device work slows compute",
     "decode = hw\ncost = read=500us\ncost = gpu-decode=500us\ncost = gpu-augment=50us\n"
     "shared-speed = gpu-decode=0.5:0.5\n"},
};

// Shares of the window: every cause, then compute.
std::vector<double> window_shares(const RunRecord& record) {
  const Account account = rank_account(record.ranks.front());
  std::vector<double> shares;
  for (const Nanos stall : account.stall)
    shares.push_back(static_cast<double>(stall) / static_cast<double>(account.window));
  shares.push_back(static_cast<double>(account.compute) / static_cast<double>(account.window));
  return shares;
}

std::string name_of_share(std::size_t index) {
  return index == kCauses ? "compute" : std::string(name_of(static_cast<Cause>(index)));
}

Answer compare(const Pipeline& pipeline, int runs) {
  const RunConfig config = config_of_lines(pipeline.lines, kCommon);
  const RunRecord model = run_model(config, {});
  const std::vector<double> expected = window_shares(model);
  std::vector<std::vector<double>> measured(expected.size());
  std::vector<double> windows;
  for (int run = 0; run < runs; ++run) {
    const RunRecord native = run_native(config, {});
    const std::vector<double> shares = window_shares(native);
    for (std::size_t i = 0; i < shares.size(); ++i) measured[i].push_back(shares[i]);
    windows.push_back(seconds(native.ranks.front().window()) /
                      seconds(model.ranks.front().window()));
  }
  Answer answer{pipeline.name, "", 0, 0, -1, median_interval(windows).median};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::vector<double> differences;
    for (const double share : measured[i]) differences.push_back(std::abs(share - expected[i]));
    const double difference = median_interval(differences).median;
    if (difference <= answer.difference) continue;
    answer.cause = name_of_share(i);
    answer.model = expected[i];
    answer.native = median_interval(measured[i]).median;
    answer.difference = difference;
  }
  return answer;
}

}  // namespace

std::vector<Answer> compare_with_model(int runs) {
  std::vector<Answer> answers;
  for (const Pipeline& pipeline : kPipelines) answers.push_back(compare(pipeline, runs));
  return answers;
}

}  // namespace loaderscope::bench
