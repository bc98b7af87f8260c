// GPUs: their PCIe links, as NVML says them, and the rate of copies to each, alone.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/wording.h"
#include "device/cuda/runtime.h"
#include "loaderscope/errors.h"
#include "machine/gpu_load.h"
#include "probe/link.h"
#include "probe/measurement.h"

namespace loaderscope::probe {
namespace {

constexpr Bytes kCopied = Bytes{64} << 20;

std::string spell(const PcieLink& link) {
  return fmt::format("PCIe gen{} x{}", link.generation, link.width);
}

// "gen5 x8, can x16"
std::string link_text(const GpuLoad& gpu) {
  if (gpu.link.width == 0) return "";
  std::string text = spell(gpu.link);
  if (gpu.link.width < gpu.widest.width) text += fmt::format(", can x{}", gpu.widest.width);
  return text;
}

// "decodes video and JPEG"
std::string decoders_text(const GpuDetails& details) {
  if (!details.decoder && !details.jpeg) return "";
  return std::string(", decodes ") + (details.decoder ? "video" : "") +
         (details.decoder && details.jpeg ? " and " : "") + (details.jpeg ? "JPEG" : "");
}

void add_links(int number, const GpuLoad& gpu, Outcome& outcome) {
  if (gpu.link.width == 0) return;
  const auto add = [&](const char* name, int value, bool is_compared) {
    Figure figure{fmt::format("{}_{}", name, number), "count", static_cast<double>(value)};
    figure.is_compared = is_compared;
    outcome.figures.push_back(figure);
  };
  add("width", gpu.link.width, true);
  add("generation", gpu.link.generation, false);  // rests at a lower one
  add("widest", gpu.widest.width, true);
  add("highest_generation", gpu.widest.generation, true);
  if (gpu.link.width < gpu.widest.width)
    outcome.notes.push_back(
        fmt::format("GPU {}: its link has {} of {} lanes; look at its slot and "
                    "riser",
                    number, gpu.link.width, gpu.widest.width));
}

// Bytes per second from page-locked and from pageable memory.
std::vector<Figure> copies_to(int number, const ProbeContext& probing) {
  LinkOptions options;
  options.device = number;
  options.sizes = {kCopied};
  options.samples = probing.options.quick ? 1 : 3;
  options.root = probing.options.root;
  options.memories = {MemoryMode::pageable, MemoryMode::pinned_slots};
  options.copies = {CopyMode::async};
  std::vector<Figure> figures;
  for (const LinkCell& cell : measure_link(probing.options.runtime, options, probing.stop).cells) {
    const bool is_pinned = cell.memory == MemoryMode::pinned_slots;
    if (is_pinned && !cell.fallback.empty()) continue;
    figures.push_back({fmt::format("{}_{}", is_pinned ? "pinned" : "pageable", number), "bytes/s",
                       cell.median, (cell.high - cell.low) / 2 / std::max(cell.median, 1.0),
                       "64 MiB"});
  }
  return figures;
}

}  // namespace

void measure_gpus(const ProbeContext& probing, Outcome& outcome) {
  GpuLoads nvml(probing.options.nvml);
  const std::vector<GpuLoad> loads = nvml.read();
  const std::shared_ptr<cuda::Runtime>& runtime = probing.options.runtime;
  const auto no_cuda =
      runtime ? cuda::why_no_gpu(runtime.get()) : std::optional<std::string>("built without CUDA");
  if (loads.empty() && no_cuda) {
    outcome.answer = "no GPU";
    std::string why = *no_cuda;
    if (why.ends_with('.')) why.pop_back();
    throw RunError(why + (nvml.unavailable().empty() ? "" : ", and " + nvml.unavailable()));
  }
  int count = 0;
  if (!no_cuda) cuda::check("GPUs", runtime->device_count(count));
  double slowest = 0;
  for (int i = 0; i < std::max(count, static_cast<int>(loads.size())); ++i) {
    if (!probing.is_running()) break;
    const GpuLoad* load = i < std::ssize(loads) ? &loads[static_cast<std::size_t>(i)] : nullptr;
    std::string line = fmt::format("GPU {}", i);
    if (load != nullptr) {
      line += fmt::format(": {}", load->name);
      add_links(i, *load, outcome);
      if (const std::string link = link_text(*load); !link.empty()) line += ", " + link;
      line += decoders_text(nvml.details(load->number));
    }
    if (i < count) {
      for (const Figure& figure : copies_to(i, probing)) {
        line += fmt::format(", {} {}", figure.name.substr(0, figure.name.find('_')), shown(figure));
        if (figure.name.starts_with("pinned"))
          slowest = slowest > 0 ? std::min(slowest, figure.value) : figure.value;
        outcome.figures.push_back(figure);
      }
    }
    outcome.lines.push_back(line);
  }
  if (no_cuda) outcome.notes.push_back("copies to GPUs are not measured: " + *no_cuda);
  const auto gpus = std::max<std::int64_t>(count, std::ssize(loads));
  if (slowest > 0)
    outcome.ceilings.push_back(
        {.supply = MachineResource::link, .per_s = slowest, .gpus = static_cast<double>(gpus)});
  outcome.answer = plural(gpus, "GPU") + (slowest > 0 ? " at " + format_byte_rate(slowest) : "");
}

}  // namespace loaderscope::probe
