#include "analysis/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace loaderscope {
namespace {

constexpr double kHardly = 0.001;  // share of the window; below it no rank waits for another
constexpr double kFarLess = 0.5;   // share of the next longer wait
constexpr double kGap = 0.25;      // share of the longest wait, between the two
constexpr double kAsSlow = 1.1;    // times the rate of the slowest
constexpr std::size_t kMaxNamed = 3;

// Returns the indices for which `is_measured` is true, ordered by value.
template <class Value, class IsMeasured>
std::vector<std::size_t> ascending(std::size_t count, const Value& value,
                                   const IsMeasured& is_measured) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t rank) { return !is_measured(rank); });
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
  return order;
}

std::vector<std::size_t> first_ranks(std::vector<std::size_t> order, std::size_t count) {
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

std::vector<std::size_t> stragglers(const std::vector<Account>& ranks) {
  const auto waits = [&](std::size_t r) {
    return window_share(ranks[r].waiting_for_ranks, ranks[r]);
  };
  const std::vector<std::size_t> order =
      ascending(ranks.size(), waits, [&](std::size_t r) { return ranks[r].window > 0; });
  if (order.size() < 2 || waits(order.back()) <= kHardly) return {};
  for (std::size_t count = 1; 2 * count <= order.size(); ++count) {
    const double last = waits(order[count - 1]), next = waits(order[count]);
    if (last <= kFarLess * next && next - last >= kGap * waits(order.back()))
      return first_ranks(order, count);
  }
  return {};
}

std::vector<std::size_t> slowest_ranks(const std::vector<double>& samples_per_s) {
  const auto rate = [&](std::size_t r) { return samples_per_s[r]; };
  const std::vector<std::size_t> order =
      ascending(samples_per_s.size(), rate, [&](std::size_t r) { return rate(r) > 0; });
  const auto as_slow = std::count_if(order.begin(), order.end(), [&](std::size_t r) {
    return rate(r) <= kAsSlow * rate(order.front());
  });
  const auto count = static_cast<std::size_t>(as_slow);
  return 2 * count <= order.size() ? first_ranks(order, count) : std::vector<std::size_t>{};
}

std::string describe_ranks(const std::vector<std::size_t>& ranks) {
  const std::size_t named = ranks.size() <= kMaxNamed + 1 ? ranks.size() : kMaxNamed;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return named == ranks.size() ? text : text + fmt::format(" and {} more", ranks.size() - named);
}

}  // namespace loaderscope
