#include "predict/search_fix.h"

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <mutex>

#include "loaderscope/errors.h"
#include "record/environment_changes.h"

namespace loaderscope {
namespace {

constexpr double kAllBusy = 0.999;
constexpr double kNoMore = 0.005;     // share of the gain; a doubling that gains less gains nothing
constexpr int kUselessDoublings = 2;  // consecutive; no larger value is tried after them

// No larger change can give back more.
bool nothing_is_left(const Prediction& prediction) { return prediction.busy() >= kAllBusy; }

class RangeSearch {
 public:
  RangeSearch(const SettingRange& range, const Predictor& predict)
      : range_(range), predict_(predict) {}

  // Returns the smallest value with most of the best gain. Returns nothing if every value
  // contradicts the other settings.
  std::optional<Changes> knee() {
    last_ = double_up();
    if (!(best_ > 0)) return std::nullopt;
    const double enough = best_ > 1 ? 1 + kKnee * (best_ - 1) : (1 - kAboutAsMuch) * best_;
    const auto is_enough = [&](std::int64_t value) { return gain_with(value) >= enough; };
    const std::int64_t low = range_.present;
    return changes_with(smallest_sufficient({low, first(), last_}, is_enough).value());
  }

  Changes best() const { return changes_with(last_); }

 private:
  std::int64_t first() const { return std::max<std::int64_t>(1, 2 * range_.present); }

  Changes changes_with(std::int64_t value) const {
    Changes changes = {number(range_.key, value)};
    changes.insert(changes.end(), range_.with.begin(), range_.with.end());
    return changes;
  }

  double gain_with(std::int64_t value) const {
    const std::optional<Prediction> prediction = predicted(predict_, changes_with(value));
    return prediction ? prediction->gain() : 0;
  }

  // Returns the value with the largest gain; past values of which it is known what they give, where
  // any of those helps, none of which only a bound is known.
  std::int64_t double_up() {
    std::int64_t last = range_.present;
    int useless = 0;
    for (std::int64_t value = first(); useless < kUselessDoublings; value *= 2) {
      value = std::min(value, range_.most);
      const std::optional<Prediction> prediction = predicted(predict_, changes_with(value));
      const double gain = prediction ? prediction->gain() : 0;
      if (prediction && !prediction->is_known() && knows_best_ && best_ > 1 + kAboutAsMuch) break;
      useless = gain > best_ * (1 + kNoMore) ? 0 : useless + 1;
      if (gain > best_) {
        best_ = gain;
        knows_best_ = prediction->is_known();
        last = value;
      }
      if (value == range_.most || (prediction && nothing_is_left(*prediction))) break;
    }
    return last;
  }

  const SettingRange& range_;
  const Predictor& predict_;
  double best_ = 0;          // gain
  bool knows_best_ = false;  // and may say it
  std::int64_t last_ = 0;    // the value with it
};

// Returns false for changes of the environment only, for which all figures should rise.
bool is_setting(const Changes& changes) {
  return !std::all_of(changes.begin(), changes.end(), is_of_world);
}

// Keeps the better of the ways that it is given in turn.
class Choice {
 public:
  Choice(const Predictor& predict, double may_lose) : predict_(predict), may_lose_(may_lose) {}

  bool is_final() const { return best && nothing_is_left(best->prediction); }

  // Returns true if `changes` became the choice.
  bool consider(const Changes& changes) {
    if (is_final()) return false;
    std::optional<Prediction> changed = predicted(predict_, changes);
    if (!changed || (is_setting(changes) && lost_busy(*changed) > may_lose_)) return false;
    const double regained = regained_share(*changed);
    if (best && regained < best->regained + kAboutAsMuch) return false;
    best = FixCandidate{changes, std::move(*changed), regained};
    return true;
  }

  // Adds the value with the best gain to the choice, if it keeps the GPU busy for much longer.
  void name_best(const Changes& changes) {
    const std::optional<Prediction> most = predicted(predict_, changes);
    if (!most || !most->is_known()) return;
    const double more = most->has_busy() ? most->busy() - best->prediction.busy()
                                         : regained_share(*most) - best->regained;
    if (more < kWorthNaming) return;
    best->best_changes = changes;
    best->best = most;
  }

  std::optional<FixCandidate> best;

 private:
  const Predictor& predict_;
  double may_lose_;
};

}  // namespace

double lost_busy(const Prediction& changed) {
  return changed.has_busy() ? std::max(0.0, changed.base_busy - changed.busy()) : 0;
}

double regained_share(const Prediction& changed) {
  return changed.gain() > 0 ? 1 - 1 / changed.gain() : 0;
}

std::optional<Prediction> predicted(const Predictor& predict, const Changes& changes) {
  try {
    return predict(changes);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

Predictor memoize(Predictor predict) {
  struct Known {
    std::mutex mutex;
    std::map<std::string, std::shared_future<Prediction>> predictions;
  };
  return [predict = std::move(predict), known = std::make_shared<Known>()](const Changes& changes) {
    std::unique_lock lock(known->mutex);
    std::shared_future<Prediction>& place = known->predictions[changes_to_text(changes)];
    if (!place.valid()) place = std::async(std::launch::deferred, predict, changes).share();
    const std::shared_future<Prediction> prediction = place;
    lock.unlock();
    return prediction.get();
  };
}

std::optional<FixCandidate> search_fix(const Candidate& candidate, const Prediction& base,
                                       const Predictor& predict, double may_lose) {
  if (candidate.options.empty() && candidate.ranges.empty()) return FixCandidate{{}, base, 0};
  Choice choice(predict, may_lose);
  for (const Changes& changes : candidate.options) choice.consider(changes);
  for (const SettingRange& range : candidate.ranges) {
    if (choice.is_final() || range.most <= range.present) continue;
    RangeSearch search(range, predict);
    const std::optional<Changes> changes = search.knee();
    if (changes && choice.consider(*changes) && *changes != search.best())
      choice.name_best(search.best());
  }
  return choice.best;
}

std::optional<std::int64_t> smallest_sufficient(
    const Bounds& bounds, const std::function<bool(std::int64_t)>& is_enough) {
  if (bounds.most <= bounds.low) return std::nullopt;
  std::int64_t low = bounds.low;
  std::int64_t high = std::clamp(bounds.first, low + 1, bounds.most);
  while (!is_enough(high)) {
    if (high == bounds.most) return std::nullopt;
    low = high;
    high = high > bounds.most / 2 ? bounds.most : 2 * high;
  }
  const auto is_near = [&] {
    return static_cast<double>(high - low) <= bounds.slack * static_cast<double>(high);
  };
  while (high - low > 1 && !is_near()) {
    const std::int64_t middle = low + (high - low) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace loaderscope
