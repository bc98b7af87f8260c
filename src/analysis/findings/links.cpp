// Findings about how the GPU is connected.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/findings/finding_input.h"
#include "analysis/wording.h"

namespace loaderscope {

std::optional<Candidate> far_numa_node(const FindingInput& facts) {
  const double near = facts.metric(metric::numa_near_cpus),
               far = facts.metric(metric::numa_far_cpus);
  if (near > 0 || far <= 0) return std::nullopt;
  const double node = facts.metric(metric::numa_gpu_node);
  return Candidate{
      fmt::format("the GPU is on NUMA node {:.0f}, and all {:.0f} CPUs that the loader may use are "
                  "on others",
                  node, far),
      {},
      fmt::format("numactl --cpunodebind={0:.0f} --membind={0:.0f} python train.py", node)};
}

std::optional<Candidate> ranks_not_bound(const FindingInput& facts) {
  const double nodes = facts.metric(metric::numa_rank_nodes);
  if (facts.record.ranks.size() < 2 || nodes < 2) return std::nullopt;
  return Candidate{fmt::format("{} ranks and their workers may each run on {:.0f} NUMA nodes, far "
                               "from their GPU and its memory",
                               facts.record.ranks.size(), nodes),
                   {},
                   "torchrun --numa-binding=node ... (PyTorch 2.9 or later)"};
}

std::optional<Candidate> link_below_rating(const FindingInput& facts) {
  const double width = facts.metric(metric::link_width),
               most_width = facts.metric(metric::link_max_width);
  const double speed = facts.metric(metric::link_gts),
               most_speed = facts.metric(metric::link_max_gts);
  const bool known = width > 0 && most_width > 0 && speed > 0 && most_speed > 0;
  if (!known || width * speed >= most_width * most_speed) return std::nullopt;
  const double factor = most_width * most_speed / (width * speed);
  return Candidate{
      fmt::format("a GPU has {:.0f} lanes of {:.3g} GT/s, and can have {:.0f} of {:.3g}", width,
                  speed, most_width, most_speed),
      {{{"h2d.speed", real_to_text(factor)}}},
      "nothing in the loader; look at the slot, the riser and the BIOS, and under load at "
      "nvidia-smi --query-gpu=pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,"
      "pcie.link.width.max --format=csv"};
}

namespace {

// "power 62.0 %, heat 10.0 %"
std::string holders(const FindingInput& facts) {
  std::string text;
  const auto add = [&](const char* name, const char* metric) {
    const double share = facts.metric(metric);
    if (share >= kMinReportedShare)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, format_percent(share));
  };
  add("power", metric::gpu_throttled_by_power_share);
  add("heat", metric::gpu_throttled_by_heat_share);
  add("its hardware", metric::gpu_throttled_by_hardware_share);
  return text;
}

}  // namespace

// A GPU at its limit of power with clocks near the most is what one pays for.
std::optional<Candidate> gpu_clocks_throttled(const FindingInput& facts) {
  constexpr double kOften = 0.1, kLower = 0.9;
  const double held = facts.metric(metric::gpu_throttled_share);
  const double clock = facts.metric(metric::gpu_clock_mhz),
               most = facts.metric(metric::gpu_most_clock_mhz);
  if (held < kOften || clock <= 0 || clock >= kLower * most) return std::nullopt;
  return Candidate{
      fmt::format("clocks of the GPU are held down {} of the time (by {}): {:.0f} of {:.0f} MHz in "
                  "the mean",
                  format_percent(held), holders(facts), clock, most),
      {{{"compute.speed", real_to_text(most / clock)}}},
      "nothing in the loader: look at the limit of power, the fans and the air (nvidia-smi -q -d "
      "PERFORMANCE,POWER,TEMPERATURE)"};
}

}  // namespace loaderscope
