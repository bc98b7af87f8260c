#include "guest/host/hook_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/quantiles.h"

namespace loaderscope::guest {
namespace {

constexpr Nanos kMaxSettling = 20 * kSecond;
// Divisors of the window: the time spent after it, and the time spent within it, of which half is
// not timed.
constexpr Nanos kAfterWindow = 5, kWithin = 20;
constexpr Nanos kLater = 4;  // times as late, and as long

constexpr double kLarge = 0.05;  // share of a thread's time

bool is_large(const OwnCost& own) {
  return std::max(own.trainer_cost_share().value_or(0), own.worker_cost_share().value_or(0)) >=
         kLarge;
}

// The share of time of our own code that runs whether stages are timed or not; "" if unknown.
std::string about_all_else(RunRecord& record, const OwnCost& own) {
  const auto put = [&](const char* name, const char* text, double share) {
    record.metrics.push_back(make_metric(name, text, std::round(1e5 * share) * 1e-5));
  };
  std::string words;
  if (const auto share = own.trainer_cost_share()) {
    put(metric::hooks_trainer_share, "of the trainer's time that our own code takes", *share);
    words = fmt::format("our own code takes {:.1f} % of the trainer's time", 100 * *share);
  }
  if (const auto share = own.worker_cost_share(); share && !words.empty()) {
    put(metric::hooks_worker_share, "of a worker's time that our own code takes", *share);
    words += fmt::format(" and {:.1f} % of a worker's", 100 * *share);
  }
  return words;
}

}  // namespace

HookCost::HookCost(Nanos at, std::int64_t steps, Nanos length, std::int64_t settle)
    : turn_(std::clamp<Nanos>(length, 2 * kSecond, 20 * kSecond) / static_cast<Nanos>(kTurns)),
      began_(at),
      steps_(steps),
      settle_(settle),
      settled_(settle == 0) {}

// A turn holds whole steps, and where that can be had as many of each worker: they come in bursts.
bool HookCost::ends(Nanos at, std::int64_t steps) const {
  if (!settled_) return steps - steps_ >= settle_;
  if (at - began_ < turn_) return false;
  return settle_ == 0 || (steps - steps_) % settle_ == 0 || at - began_ >= 2 * turn_;
}

void HookCost::look(Nanos at, std::int64_t steps) {
  if (over() || steps == steps_ || !ends(at, steps)) return;
  if (settled_) turns_.push_back(static_cast<double>(steps - steps_) / seconds(at - began_));
  settled_ = !settled_ || settle_ == 0;
  began_ = at;
  steps_ = steps;
}

std::optional<HookCost::Share> HookCost::share() const {
  if (!over()) return std::nullopt;
  // Each pair of neighbours is a measurement of its own.
  std::vector<double> costs;
  for (std::size_t turn = 0; turn < kTurns; turn += 2) {
    const double on = is_on(turn) ? turns_[turn] : turns_[turn + 1];
    const double off = is_on(turn) ? turns_[turn + 1] : turns_[turn];
    costs.push_back(1 - on / off);
  }
  const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
  return Share{find_median(costs), *least, *most};
}

// False where more time would pass until batches are of the new turn than can be waited.
bool HookCostSchedule::begin(const Seen& seen, Nanos length) {
  const Nanos step = seen.steps > 0 ? seen.window / seen.steps : 0;
  const auto settling = static_cast<Nanos>(HookCost::kTurns) * seen.ahead * step;
  if (settling > kMaxSettling) {
    why_not_ = "its steps take too long for turns";
    return false;
  }
  // A turn has about as many steps as are made ahead, or more, and ends with one of those.
  const Nanos fewest = settling * 3 / 4;
  series_.emplace(seen.clock, seen.taken, std::max(length, fewest), seen.ahead);
  return true;
}

bool HookCostSchedule::look_after_window(const Seen& seen) {
  if (!why_not_.empty()) return true;
  if (!series_ && !begin(seen, seen.window / kAfterWindow)) return true;
  series_->look(seen.clock, seen.taken);
  if (series_->over()) done_ = series_;
  return series_->over();
}

void HookCostSchedule::meanwhile(const Seen& seen) {
  if (!why_not_.empty()) return;
  within_ = true;
  if (!series_) {
    if (seen.window < next_at_) return;
    next_at_ = kLater * seen.window;
    if (!begin(seen, seen.window / kWithin)) return;
  }
  series_->look(seen.clock, seen.taken);
  if (!series_->over()) return;
  done_ = series_;
  series_.reset();
}

// The cost of timing the stages, as a sentence.
std::string HookCostSchedule::about_timing(RunRecord& record, const OwnCost& own) const {
  const auto share = done_ ? done_->share() : std::nullopt;
  if (!share) {
    const std::string ended =
        within_ ? "the job is too short, " + format_duration(kFirstAt) + " of steps are needed"
                : "the program ended before";
    return "what timing the stages costs was not measured: " +
           (why_not_.empty() ? ended : why_not_);
  }
  const std::string length = format_duration(done_->length());
  if (!share->is_known() && is_large(own))
    return fmt::format("what timing the stages adds to that is lost in it (turns of {})", length);
  if (!share->is_known()) {
    return fmt::format(
        "what timing the stages costs is not known, as its turns of {} differ by {:.0f} % of the "
        "step rate; a longer window shows it",
        length, 100 * (share->high - share->low));
  }
  record.metrics.push_back(make_metric(metric::hooks_cost_share,
                                       "of the step rate that timing the stages costs",
                                       std::round(1e4 * share->median) * 1e-4));
  const std::string turn_costs = fmt::format("alternately on and off for {}: {:.1f} to {:.1f} %",
                                             length, 100 * share->low, 100 * share->high);
  return (share->low <= 0
              ? fmt::format("timing the stages costs nothing measurable ({} of the step rate)",
                            turn_costs)
              : fmt::format("timing the stages costs {:.1f} % of the step rate ({})",
                            100 * share->median, turn_costs)) +
         (within_ ? "; what was not timed is opaque" : "");
}

void HookCostSchedule::say(RunRecord& record, const OwnCost& own) const {
  const std::string all_else = about_all_else(record, own);
  const std::string timing = about_timing(record, own);
  if (is_large(own)) {
    record.notes.push_back("loaderscope slows this program down: " + all_else + "; " + timing);
  } else {
    record.notes.push_back(timing + (all_else.empty() ? "" : "; in addition, " + all_else));
  }
}

// A page is also memory of the program: what it says is no more than the time that has passed.
void OwnCost::look(GuestProcess& member, Nanos at, bool counts) {
  if (member.page() == nullptr) return;
  const Nanos own = member.page()->own.load(std::memory_order_relaxed);
  const auto before = static_cast<std::uint64_t>(std::exchange(member.own_seen, own));
  const auto more = static_cast<Nanos>(static_cast<std::uint64_t>(own) - before);  // may wrap
  const Nanos since = std::exchange(member.own_seen_at, at);
  if (!begun_ || !counts || since == 0 || member.is_distrusted()) return;
  Sum& sum = member.is_worker ? workers_ : trainers_;
  sum.own += std::clamp<Nanos>(more, 0, at - since);
  sum.time += at - since;
}

}  // namespace loaderscope::guest
