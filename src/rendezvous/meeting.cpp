#include "rendezvous/meeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/thread_meter.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr int kPings = 50;
constexpr std::size_t kStepsKept = 64;  // more than can be in flight

}  // namespace

Meeting::Meeting(const JobPlace& place, const Introduction& own, const Patience& patience)
    : place_(place), own_(own), patience_(patience), ranks_(own.ranks) {
  if (place.processes == 1) return;
  const Nanos until = monotonic_now() + patience.to_come;
  if (is_first()) {
    listener_ = listen_at(place.port);
  } else {
    come_to_first();
  }
  thread_ = std::thread([this] { serve(); });
  try {
    if (is_first()) {
      wait_for([this] { return go_; }, until, "");
    } else {
      wait_for([this] { return welcome_; }, until, "the other processes do not come");
      clock_ = compare_clocks();
      peers_.front()->connection.send(MessageKind::clocked);
      wait_for([this] { return go_; }, until, "the other processes do not compare their clocks");
    }
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      if (is_first()) tell_all(MessageKind::lost, failure_);
      stop_ = true;
    }
    thread_.join();
    throw;
  }
}

Meeting::~Meeting() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    on_begin_ = nullptr;
  }
  thread_.join();
}

template <class Done>
void Meeting::wait_for(Done done, Nanos until, const std::string& otherwise) {
  std::unique_lock lock(mutex_);
  const auto can_end = [&] { return done() || !failure_.empty(); };
  const Nanos left = std::max<Nanos>(until - monotonic_now(), 0);
  const bool in_time = changed_.wait_for(lock, std::chrono::nanoseconds(left), can_end);
  if (!in_time) {
    failure_ = otherwise.empty()
                   ? fmt::format("rendezvous: {} did not come within {}; look whether all "
                                 "processes of the job were started, with one MASTER_ADDR",
                                 missing(), show_duration(patience_.to_come))
                   : fmt::format("rendezvous: {}; look at what process 0 says", otherwise);
  }
  if (!done()) throw RunError(failure_);
}

ClockDifference Meeting::compare_clocks() {
  if (is_first()) return {};
  ClockDifference best{0, std::numeric_limits<Nanos>::max()};
  for (int i = 0; i < kPings; ++i) {
    Pong pong;
    const Nanos sent = monotonic_now();
    if (!peers_.front()->connection.send(MessageKind::ping))
      throw RunError("rendezvous: process 0 has ended; look at what it says");
    wait_for([this] { return pong_.has_value(); }, sent + patience_.in_silence,
             "process 0 does not answer");
    {
      const std::lock_guard lock(mutex_);
      pong = *std::exchange(pong_, std::nullopt);
    }
    // The answer was given within the round trip: its middle is off by half of it at most.
    const Nanos error = (pong.here - sent + 1) / 2;
    if (error < best.error) best = {sent + error - pong.there, error};
  }
  return best;
}

void Meeting::ready(std::int64_t step, Nanos at) {
  const std::lock_guard lock(mutex_);
  if (is_first()) {
    take_ready(step, at);
  } else {
    peers_.front()->connection.send(MessageKind::ready, packed(step, at - clock_.offset));
  }
}

void Meeting::take_ready(std::int64_t step, Nanos at) {
  Ready& ready = ready_[step];
  ready.last = ready.count == 0 ? at : std::max(ready.last, at);
  if (++ready.count < place_.processes) return;
  const Nanos begin = ready.last;
  ready_.erase(step);
  tell_all(MessageKind::begin, packed(step, begin));
  take_begin(step, begin);
}

void Meeting::take_begin(std::int64_t step, Nanos at) {
  begins_[step] = at + clock_.offset;
  if (begins_.size() > kStepsKept) begins_.erase(begins_.begin());
}

std::optional<Nanos> Meeting::begin_of(std::int64_t step) {
  const std::lock_guard lock(mutex_);
  const auto found = begins_.find(step);
  return found == begins_.end() ? std::nullopt : std::optional(found->second);
}

void Meeting::on_begin(std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  on_begin_ = std::move(call);
}

void Meeting::end_after(std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  if (is_first()) {
    take_over(steps);
  } else {
    peers_.front()->connection.send(MessageKind::over, packed(steps));
  }
}

void Meeting::take_over(std::int64_t steps) {
  if (over_) return;
  over_ = steps;
  if (is_first()) tell_all(MessageKind::over, packed(steps));
}

bool Meeting::is_over(std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  return !failure_.empty() || (over_ && steps >= *over_);
}

std::string Meeting::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::vector<std::string> Meeting::gather(const std::string& bytes) {
  if (place_.processes == 1) return {};
  if (!is_first()) {
    if (!peers_.front()->connection.send(MessageKind::record, bytes))
      throw RunError("rendezvous: process 0 took no record; look at what it says");
    wait_for([this] { return thanked_; }, monotonic_now() + patience_.to_come,
             "process 0 did not take the record");
    return {};
  }
  std::unique_lock lock(mutex_);
  // Each is heard of, or lost: this ends.
  changed_.wait(lock, [this] {
    return all([](const Peer& peer) { return peer.record || peer.is_gone; });
  });
  std::vector<std::string> records;
  for (const auto& peer : peers_)
    if (peer->number > 0) records.push_back(peer->record.value_or(""));
  tell_all(MessageKind::thanks, "");
  return records;
}

std::string Meeting::name_of(std::int64_t process) {
  const std::lock_guard lock(mutex_);
  for (const auto& peer : peers_)
    if (peer->number == process)
      return fmt::format("process {} on {}", process, shown_text(peer->of.host));
  return fmt::format("process {} on {}", process, own_.host);
}

}  // namespace loaderscope
