// Lanes of a device in which batches are made, and its compute. Work that runs at the same time may
// slow each other down. There is no clock: calls come in the order of their times.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/fifo.h"
#include "loaderscope/device.h"
#include "loaderscope/events.h"
#include "loaderscope/run_config.h"

namespace loaderscope {

// Speeds in millionths of the speed alone, while a task of a stage runs during a compute.
struct SpeedTogether {
  std::int64_t compute = 1'000'000;
  std::int64_t task = 1'000'000;
};

class ProductionLanes {
 public:
  void set_speed(Stage stage, SpeedTogether speed) { speeds_[stage] = speed; }
  void set_speeds(std::span<const SharedSpeed> speeds);

  // Tasks of a batch run one after another. A lane runs one task at a time, in the order of
  // submission.
  void submit(Nanos now, std::span<const LaneTask> tasks);
  // Requires that no compute runs.
  void begin_compute(Nanos now, Nanos duration);

  // Time at which the next task or compute ends if nothing is submitted before. kNever if none
  // runs.
  Nanos next_end() const;
  // Runs until `now`, which is no later than next_end().
  void advance(Nanos now);

  // The oldest batch: true if all its tasks have ended.
  bool is_oldest_made() const;
  // Returns the runs of the tasks of the oldest batch, which is made, in the order of submission.
  std::array<Interval, kMaxDeviceWork> take_oldest();
  // Returns the end of the compute that has ended since the last call.
  std::optional<Nanos> take_compute_end();

 private:
  struct Work {
    std::int64_t left = 0;  // unit: 1/1024 ns alone on the device
    bool runs = false;
  };
  struct Task {
    LaneTask what;
    Interval at;
  };
  struct Batch {
    std::array<Task, kMaxDeviceWork> tasks;
    std::size_t count = 0;
    std::size_t ended = 0;  // tasks, in their order
  };
  struct LaneState {
    Fifo<std::int64_t> waiting{2};  // numbers of batches, one entry per task
    Work work;
    std::int64_t batch = -1;  // batch whose task runs
  };

  Batch& batch(std::int64_t number) { return batches_[static_cast<std::size_t>(number - first_)]; }
  Task& running_task(LaneState& lane);
  const Task& running_task(const LaneState& lane) const;
  bool shares(const LaneState& lane) const { return lane.work.runs && compute_.runs; }
  std::int64_t task_speed(const LaneState& lane) const;
  std::int64_t compute_speed() const;
  void begin_tasks();
  bool begin_task(LaneState& lane);
  void end_what_is_done();

  PerStage<SpeedTogether> speeds_;
  std::array<LaneState, kLanes> lanes_;
  Fifo<Batch> batches_{2};
  std::int64_t first_ = 0;  // number of the oldest batch
  Work compute_;
  std::optional<Nanos> compute_end_;
  Nanos now_ = 0;
};

}  // namespace loaderscope
