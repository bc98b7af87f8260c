#include "guest/library/stage_marks.h"

#include "base/symbol.h"

namespace loaderscope::guest::gpu_activity {
namespace {

constexpr auto kWhose = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
// The lowest byte is a stage. Other tools use small numbers.
constexpr std::uint64_t kOurs = 0x6c6f'6164'7363'7000, kMask = ~std::uint64_t{0xff};

// Calls that start kernels or copies. An older CUPTI refuses those that it does not know.
constexpr CUpti_CallbackId kLaunchOfCuda13 = 505, kLaunchOfCuda13Ptsz = 506;
constexpr CUpti_CallbackId kRuntimeCalls[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060,
    kLaunchOfCuda13,
    kLaunchOfCuda13Ptsz,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000,
};
constexpr CUpti_CallbackId kDriverCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz,
};

}  // namespace

void StageMarks::load(void* library) {
  const bool has_all = find_symbol(enable_, library, "cuptiActivityEnable") &&
                       find_symbol(disable_, library, "cuptiActivityDisable") &&
                       find_symbol(push_, library, "cuptiActivityPushExternalCorrelationId") &&
                       find_symbol(pop_, library, "cuptiActivityPopExternalCorrelationId") &&
                       find_symbol(switch_runtime_, library, "cuptiActivityEnableRuntimeApi") &&
                       find_symbol(switch_driver_, library, "cuptiActivityEnableDriverApi");
  state_ = has_all ? State::unused : State::missing;
}

bool StageMarks::begin(Stage stage) {
  return use() == State::used &&
         push_(kWhose, kOurs | static_cast<std::uint64_t>(stage)) == CUPTI_SUCCESS;
}

StageMarks::State StageMarks::use() {
  if (state_ != State::unused) return state_;
  const std::lock_guard lock(switching_);
  if (state_ == State::unused) state_ = switch_on(true) ? State::used : State::missing;
  return state_;
}

void StageMarks::end() {
  std::uint64_t last = 0;
  if (pop_ != nullptr) pop_(kWhose, &last);
}

void StageMarks::record(bool on) {
  const std::lock_guard lock(switching_);
  if (state_ == State::used) switch_on(on);
}

bool StageMarks::switch_on(bool on) {
  const auto kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  if ((on ? enable_(kind) : disable_(kind)) != CUPTI_SUCCESS) return false;
  bool any = false;
  for (const CUpti_CallbackId call : kRuntimeCalls)
    any |= switch_runtime_(call, on ? 1 : 0) == CUPTI_SUCCESS;
  for (const CUpti_CallbackId call : kDriverCalls)
    any |= switch_driver_(call, on ? 1 : 0) == CUPTI_SUCCESS;
  return any;
}

std::optional<CallStage> read_stage_mark(const CUpti_Activity& record) {
  if (record.kind != CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) return std::nullopt;
  const auto& mark = reinterpret_cast<const CUpti_ActivityExternalCorrelation&>(record);
  const auto stage = static_cast<Stage>(mark.externalId & ~kMask);
  const bool is_ours = mark.externalKind == kWhose && (mark.externalId & kMask) == kOurs;
  if (!is_ours || !is_on_device(stage)) return std::nullopt;
  return CallStage{mark.correlationId, stage};
}

}  // namespace loaderscope::guest::gpu_activity
