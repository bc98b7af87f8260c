#include "device/production_lanes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace loaderscope {
namespace {

__extension__ typedef __int128 Wide;

constexpr std::int64_t kFine = 1024;  // parts of a ns in which work is counted
constexpr std::int64_t kAlone = 1'000'000;
constexpr Nanos kMaxWait = Nanos{1} << 60;  // later ends count as this far away

// Returns the whole ns until `left` is done at `speed`.
Nanos time_left(std::int64_t left, std::int64_t speed) {
  const Wide per_ns = static_cast<Wide>(kFine) * std::max<std::int64_t>(speed, 1);
  const Wide ns = (static_cast<Wide>(left) * kAlone + per_ns - 1) / per_ns;
  return static_cast<Nanos>(std::min<Wide>(ns, kMaxWait));
}

std::int64_t millionths(double share) {
  return std::max<std::int64_t>(std::llround(share * 1e6), 1);
}

std::int64_t work_done(Nanos passed, std::int64_t speed) {
  return static_cast<std::int64_t>(static_cast<Wide>(passed) * kFine * speed / kAlone);
}

}  // namespace

void ProductionLanes::set_speeds(std::span<const SharedSpeed> speeds) {
  for (const SharedSpeed& speed : speeds)
    set_speed(speed.stage, {millionths(speed.compute), millionths(speed.task)});
}

ProductionLanes::Task& ProductionLanes::running_task(LaneState& lane) {
  Batch& its = batch(lane.batch);
  return its.tasks.at(its.ended);
}

const ProductionLanes::Task& ProductionLanes::running_task(const LaneState& lane) const {
  const Batch& its = batches_[static_cast<std::size_t>(lane.batch - first_)];
  return its.tasks.at(its.ended);
}

std::int64_t ProductionLanes::task_speed(const LaneState& lane) const {
  return shares(lane) ? speeds_[running_task(lane).what.stage].task : kAlone;
}

// Each task takes its share of what the others leave.
std::int64_t ProductionLanes::compute_speed() const {
  Wide speed = kAlone;
  for (const LaneState& lane : lanes_)
    if (shares(lane)) speed = speed * speeds_[running_task(lane).what.stage].compute / kAlone;
  return std::max<std::int64_t>(static_cast<std::int64_t>(speed), 1);
}

void ProductionLanes::submit(Nanos now, std::span<const LaneTask> tasks) {
  advance(now);
  const std::int64_t number = first_ + static_cast<std::int64_t>(batches_.size());
  Batch& added = batches_.push_slot();
  added = {};
  added.count = std::min(tasks.size(), kMaxDeviceWork);
  for (std::size_t i = 0; i < added.count; ++i) {
    added.tasks.at(i).what = tasks[i];
    lanes_.at(index_of(tasks[i].lane)).waiting.push_back(number);
  }
  begin_tasks();
  end_what_is_done();
}

void ProductionLanes::begin_compute(Nanos now, Nanos duration) {
  advance(now);
  compute_ = {duration * kFine, true};
  end_what_is_done();
}

// The first task of a lane begins once the task before it in its batch has ended.
bool ProductionLanes::begin_task(LaneState& lane) {
  if (lane.work.runs || lane.waiting.empty()) return false;
  const std::int64_t number = lane.waiting.front();
  Batch& its = batch(number);
  Task& next = its.tasks.at(its.ended);
  if (&lanes_.at(index_of(next.what.lane)) != &lane || next.at.ran()) return false;
  lane.waiting.pop_front();
  lane.batch = number;
  lane.work = {next.what.duration * kFine, true};
  next.at.begin = now_;
  return true;
}

void ProductionLanes::begin_tasks() {
  for (LaneState& lane : lanes_) begin_task(lane);
}

// Ends all work without a rest, and begins what waited for it.
void ProductionLanes::end_what_is_done() {
  bool ended = true;
  while (ended) {
    ended = false;
    for (LaneState& lane : lanes_) {
      if (!lane.work.runs || lane.work.left > 0) continue;
      running_task(lane).at.end = now_;
      ++batch(lane.batch).ended;
      lane.work.runs = false;
      ended = true;
    }
    if (compute_.runs && compute_.left <= 0) {
      compute_.runs = false;
      compute_end_ = now_;
    }
    if (ended) begin_tasks();
  }
}

Nanos ProductionLanes::next_end() const {
  Nanos next = kNever;
  for (const LaneState& lane : lanes_)
    if (lane.work.runs) next = std::min(next, now_ + time_left(lane.work.left, task_speed(lane)));
  if (compute_.runs) next = std::min(next, now_ + time_left(compute_.left, compute_speed()));
  return next;
}

void ProductionLanes::advance(Nanos now) {
  const Nanos passed = now - now_;
  if (passed > 0) {
    const std::int64_t compute_done = work_done(passed, compute_speed());
    std::array<std::int64_t, kLanes> lane_done{};
    for (std::size_t i = 0; i < kLanes; ++i)
      if (lanes_.at(i).work.runs) lane_done.at(i) = work_done(passed, task_speed(lanes_.at(i)));
    for (std::size_t i = 0; i < kLanes; ++i) lanes_.at(i).work.left -= lane_done.at(i);
    if (compute_.runs) compute_.left -= compute_done;
    now_ = now;
  }
  end_what_is_done();
}

bool ProductionLanes::is_oldest_made() const {
  return !batches_.empty() && batches_.front().ended == batches_.front().count;
}

std::array<Interval, kMaxDeviceWork> ProductionLanes::take_oldest() {
  std::array<Interval, kMaxDeviceWork> runs;
  const Batch& oldest = batches_.front();
  for (std::size_t i = 0; i < oldest.count; ++i) runs.at(i) = oldest.tasks.at(i).at;
  batches_.pop_front();
  ++first_;
  return runs;
}

std::optional<Nanos> ProductionLanes::take_compute_end() {
  return std::exchange(compute_end_, std::nullopt);
}

}  // namespace loaderscope
