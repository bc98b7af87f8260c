#include "loaderscope/cost.h"

#include <array>
#include <cmath>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr std::string_view kGemm = "gemm:";

const ComputePreset* find_preset(std::string_view name) {
  for (const ComputePreset& preset : compute_presets()) {
    if (preset.row.name == name) return &preset;
  }
  return nullptr;
}

Distribution parse_time(std::string_view text) {
  try {
    return parse_time_distribution(text);
  } catch (const ValueError& error) {
    std::vector<std::string_view> names;
    for (const ComputePreset& preset : compute_presets()) names.push_back(preset.row.name);
    throw ValueError(error.what() + suggestion(text, names));
  }
}

}  // namespace

// From the workloads of the MLPerf Storage benchmark, github.com/mlcommons/storage, folder
// configs/dlio/workload: train.computation_time and reader.batch_size of the file of that name.
std::span<const ComputePreset> compute_presets() {
  static constexpr std::array<ComputePreset, 6> kTable = {{
      {{"resnet50-h100",
        "Train ResNet-50 on an H100: 400 images in 224 ms (MLPerf Storage, resnet50_h100.yaml)."},
       224 * kMillisecond,
       400},
      {{"resnet50-a100",
        "Train ResNet-50 on an A100: 400 images in 435 ms (MLPerf Storage, resnet50_a100.yaml)."},
       435 * kMillisecond,
       400},
      {{"unet3d-h100",
        "Train 3D U-Net on an H100: 7 volumes in 323 ms (MLPerf Storage, unet3d_h100.yaml)."},
       323 * kMillisecond,
       7},
      {{"unet3d-a100",
        "Train 3D U-Net on an A100: 7 volumes in 636 ms (MLPerf Storage, unet3d_a100.yaml)."},
       636 * kMillisecond,
       7},
      {{"cosmoflow-h100",
        "Train CosmoFlow on an H100: 1 volume in 3.5 ms (MLPerf Storage, cosmoflow_h100.yaml)."},
       3500 * kMicrosecond,
       1},
      {{"cosmoflow-a100",
        "Train CosmoFlow on an A100: 1 volume in 5.51 ms (MLPerf Storage, cosmoflow_a100.yaml)."},
       5510 * kMicrosecond,
       1},
  }};
  return kTable;
}

Compute parse_compute(std::string_view text) {
  Compute compute;
  compute.gemm = text.starts_with(kGemm);
  if (compute.gemm) text.remove_prefix(kGemm.size());
  const ComputePreset* preset = find_preset(text);
  if (preset == nullptr) {
    static_cast<Distribution&>(compute) = parse_time(text);
    return compute;
  }
  compute.mean = static_cast<double>(preset->time);
  compute.preset = preset->row.name;
  compute.per_batch = preset->batch_size;
  return compute;
}

std::string compute_to_text(const Compute& compute) {
  const std::string prefix(compute.gemm ? kGemm : "");
  return prefix + (compute.preset.empty() ? time_distribution_to_text(compute) : compute.preset);
}

}  // namespace loaderscope
