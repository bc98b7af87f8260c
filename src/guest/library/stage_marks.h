// Stages of kernels. While a thread is in a stage, CUPTI writes a record with the stage and the
// number of each call that starts work of the GPU. The kernel has the same number. CUPTI does so
// only for calls that it records, so these calls are recorded too, from the first stage on.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "loaderscope/vocabulary.h"

namespace loaderscope::guest::gpu_activity {

class StageMarks {
 public:
  // A library without the functions marks nothing.
  void load(void* library);
  // Begins a stage of the calling thread. Returns false, and begins nothing, if this CUPTI cannot
  // mark calls. Any thread may call it.
  bool begin(Stage stage);
  void end();
  void record(bool on);  // pauses, or continues

 private:
  enum class State : std::uint8_t { missing, unused, used };

  State use();              // records calls from the first stage on
  bool switch_on(bool on);  // false: CUPTI refuses

  decltype(&cuptiActivityEnable) enable_ = nullptr;
  decltype(&cuptiActivityDisable) disable_ = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_ = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_ = nullptr;
  // cuptiActivityEnableRuntimeApi and -DriverApi, which CUPTI's older headers lack
  using SwitchCall = CUptiResult(CUPTIAPI*)(CUpti_CallbackId call, std::uint8_t on);
  SwitchCall switch_runtime_ = nullptr, switch_driver_ = nullptr;
  std::mutex switching_;
  std::atomic<State> state_ = State::missing;
};

struct CallStage {
  std::uint32_t call;
  Stage stage;
};
// Returns nothing for records of other kinds, and of other tools.
std::optional<CallStage> read_stage_mark(const CUpti_Activity& record);

}  // namespace loaderscope::guest::gpu_activity
