// Default axes of tune.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/tune.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

// 0, 1, 2, 3, 4, 6, 8, 12, 16, ... to twice the cores of a rank.
std::vector<std::string> worker_counts(std::int64_t most) {
  std::vector<std::string> counts = {"0", "1"};
  for (std::int64_t power = 2; power <= most; power *= 2) {
    counts.push_back(std::to_string(power));
    if (power + power / 2 <= most && power >= 2)
      counts.push_back(std::to_string(power + power / 2));
  }
  return counts;
}

bool fixes(const RunConfig& base, std::string_view key) { return find_field(key)->given(base); }

}  // namespace

double parse_busy_goal(std::string_view text) {
  constexpr std::string_view kPrefix = "gpu:";
  constexpr const char* kExpected = "expected gpu: and a share, such as gpu:0.95 or gpu:95%";
  if (!text.starts_with(kPrefix)) throw ValueError(kExpected);
  text.remove_prefix(kPrefix.size());
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  try {
    const double share = parse_real(text) / (percent ? 100 : 1);
    if (share > 0 && share < 1) return share;
  } catch (const ValueError&) {
  }
  throw ValueError(kExpected);
}

Axes default_axes(const RunConfig& base, const MachineLimits& limits,
                  std::optional<std::int64_t> max_workers) {
  const double cores = base.declared.cores.given ? base.declared.cores.value : limits.cores;
  const auto of_rank = static_cast<std::int64_t>(
      std::floor(2 * cores / static_cast<double>(std::max<std::int64_t>(1, base.trainer.ranks))));
  const std::int64_t most =
      std::min(std::max<std::int64_t>(4, of_rank), max_workers.value_or(4096));
  const std::optional<GuestTraits> guest = guest_traits(base.engine.value);
  const bool has_own_threads = guest && !guest->is_data_loader;
  Axes axes;
  if (!fixes(base, "num-workers")) {
    std::vector<std::string> counts = worker_counts(most);
    if (has_own_threads) counts.erase(counts.begin());  // the least number is one
    axes.push_back({"num-workers", std::move(counts)});
  }
  if (!fixes(base, "prefetch-factor") && !fixes(base, "prefetch-depth"))
    axes.push_back({"prefetch-factor", {"1", "2", "4", "8"}});
  if (fixes(base, "memory") || fixes(base, "pin-memory")) return axes;
  if (has_own_threads) return axes;
  if (guest || base.program.command.given || base.program.loader.given) {
    axes.push_back({"pin-memory", {"false", "true"}});
  } else {
    axes.push_back({"memory", {"pageable", "pin-thread", "pinned-slots"}});
  }
  return axes;
}

}  // namespace loaderscope
