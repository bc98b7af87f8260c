// The kernel that augments batches: its rate, and the share of the rate of copies that it reaches.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/wording.h"
#include "loaderscope/errors.h"
#include "probe/augment_loop.h"
#include "probe/measurement.h"
#include "probe/training_loop.h"

namespace loaderscope::probe {
namespace {

constexpr int kLoops = 3;  // f16, f32, copies

struct KernelType {
  Transfer transfer;
  const char* name;
};
constexpr KernelType kTypes[] = {{Transfer::f16, "f16"}, {Transfer::f32, "f32"}};

// Bytes that copies within GPU memory read and write per second. No rate after a stop.
Rate copy_rate(ProbedGpu& gpu, Nanos time) {
  DeviceCopyLoop copies(gpu);
  if (!copies.calibrate() || !gpu.run(copies, time)) return {};
  const Rate pieces = copies.pieces_per_s();
  return {pieces.per_s * copies.moved_bytes(), pieces.noise};
}

}  // namespace

void measure_augment_kernel(const ProbeContext& probing, Outcome& outcome) {
  ProbedGpu gpu(probing);
  const AugmentBatch batch(gpu);
  const Nanos time = probing.left() / kLoops;
  const Rate copies = copy_rate(gpu, time);
  if (copies.per_s <= 0) throw RunError("it was stopped");
  outcome.figures.push_back(
      {"device_copy", "bytes/s", copies.per_s, copies.noise, "256 MiB, read and written"});
  const std::string condition = fmt::format("random crops of {} to {}, batches of {}",
                                            kAugmentedImage.text(), kAugmentSide, kAugmentBatch);
  std::string line;
  for (const KernelType& type : kTypes) {
    AugmentLoop loop(gpu, batch, type.transfer);
    if (!gpu.run(loop, time)) break;
    const Rate pieces = loop.pieces_per_s();
    const double samples = pieces.per_s * kAugmentBatch, bytes = pieces.per_s * loop.moved_bytes();
    const std::string name = type.name;
    outcome.figures.push_back({name + "_samples", "1/s", samples, pieces.noise, condition});
    outcome.figures.push_back({name + "_bytes", "bytes/s", bytes, pieces.noise, condition});
    outcome.figures.push_back({name + "_of_copies", "share", bytes / copies.per_s,
                               std::max(pieces.noise, copies.noise), condition});
    line += fmt::format("{}{} samples/s to {} at {} ({} of copies)", line.empty() ? "" : ", ",
                        format_rate(samples), name, format_byte_rate(bytes),
                        format_percent(bytes / copies.per_s));
    if (outcome.answer.empty())
      outcome.answer = fmt::format("GPU augments {} samples/s, at {} of its copy rate",
                                   format_rate(samples), format_percent(bytes / copies.per_s));
  }
  if (line.empty()) throw RunError("it was stopped");
  outcome.lines.push_back(fmt::format("augmentation by {}: {}", gpu.name(), line));
}

}  // namespace loaderscope::probe
