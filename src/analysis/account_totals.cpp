// The rows of a window added up to its account, and the accounts of several ranks to one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "analysis/totals.h"
#include "loaderscope/analysis.h"

namespace loaderscope {
namespace {

constexpr std::array kDeviceParts = {&DeviceProduction::decode, &DeviceProduction::augment,
                                     &DeviceProduction::lane_wait, &DeviceProduction::shared};

// Rounding may have made a part larger than its whole.
void limit_to_stalls(Account& account) {
  DeviceProduction& device = account.device;
  device.decode = std::min(device.decode, account.stall[Cause::decode]);
  device.augment = std::min(device.augment, account.stall[Cause::augment]);
  device.lane_wait = std::min(device.lane_wait, account.idle());
}

void add_row(Account& account, const StepRow& row) {
  account.compute += row.compute();
  for (std::size_t c = 0; c < kCauses; ++c) account.stall.at(c) += row.stall.at(c);
  account.not_asking += row.not_asking;
  account.waiting_for_ranks += row.waiting_for_ranks;
  for (std::size_t w = 0; w < kWhys; ++w) account.why.at(w) += row.why.at(w);
  account.order += row.order;
  account.clamped += row.clamped;
  for (const auto part : kDeviceParts) account.device.*part += row.device.*part;
}

// Mean of `value(rank)` as its floor and the remainder, computed without a sum that could overflow.
struct Mean {
  Nanos floor = 0;
  Nanos rest = 0;  // 0 <= rest < ranks
};

template <class Value>
Mean rank_mean(const std::vector<Account>& ranks, const Value& value) {
  const auto n = static_cast<Nanos>(ranks.size());
  Mean mean;
  for (const Account& rank : ranks) {
    mean.floor += value(rank) / n;
    mean.rest += value(rank) % n;
  }
  mean.floor += mean.rest / n;
  mean.rest %= n;
  return mean;
}

// The means of parts of a whole, rounded so that they add up to `whole`: those with the largest
// remainder are rounded up, of equal ones the first.
template <std::size_t N>
std::array<Nanos, N> split_parts(const std::array<Mean, N>& means, Nanos whole) {
  std::array<std::size_t, N> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return means.at(a).rest > means.at(b).rest;
  });
  std::array<Nanos, N> parts{};
  for (std::size_t i = 0; i < N; ++i) {
    parts.at(i) = means.at(i).floor;
    whole -= parts.at(i);
  }
  for (std::size_t i = 0; i < N && whole > 0; ++i, --whole) ++parts.at(order.at(i));
  return parts;
}

}  // namespace

double window_share(Nanos part, const Account& account) {
  return account.window > 0 ? static_cast<double>(part) / static_cast<double>(account.window) : 0;
}

double device_share(Cause cause, const Account& account) {
  const Nanos part = cause == Cause::decode    ? account.device.decode
                     : cause == Cause::augment ? account.device.augment
                                               : 0;
  const Nanos whole = account.stall[cause];
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

bool waits_for_device(const Account& account) {
  Nanos making = 0;
  for (const auto& word : Words<Cause>::table())
    if (makes_batches(word.value)) making += account.stall[word.value];
  return account.device.stall() > making / 2;
}

Account rank_account(const RankRecord& rank) {
  Account account;
  if (rank.steps() <= 0) return account;
  account.window = rank.window();
  rank.rows.for_each([&](const StepRow& row) { add_row(account, row); }, rank.warmup_steps);
  account.launching = account.stall[Cause::launch] - account.not_asking;

  const Nanos booked = std::accumulate(account.stall.begin(), account.stall.end(), account.compute);
  if (booked != account.window) {
    throw std::logic_error(
        fmt::format("the account does not close: compute and causes are {} ns of a window of {} "
                    "ns; this is a defect of loaderscope, please report it with the command line",
                    booked, account.window));
  }
  return account;
}

Account mean_account(const std::vector<Account>& ranks) {
  if (ranks.empty()) return {};
  Account mean;
  mean.window = rank_mean(ranks, [](const Account& a) { return a.window; }).floor;

  std::array<Mean, kCauses + 1> parts;
  for (std::size_t c = 0; c < kCauses; ++c) {
    parts.at(c) = rank_mean(ranks, [c](const Account& a) { return a.stall.at(c); });
  }
  parts.back() = rank_mean(ranks, [](const Account& a) { return a.compute; });
  const auto rounded = split_parts(parts, mean.window);
  std::copy_n(rounded.begin(), kCauses, mean.stall.begin());
  mean.compute = rounded.back();

  const auto floor_mean = [&](auto member) {
    return rank_mean(ranks, [member](const Account& a) { return a.*member; }).floor;
  };
  mean.not_asking = std::min(floor_mean(&Account::not_asking), mean.stall[Cause::launch]);
  mean.launching = mean.stall[Cause::launch] - mean.not_asking;
  mean.waiting_for_ranks = floor_mean(&Account::waiting_for_ranks);
  mean.order = floor_mean(&Account::order);
  mean.clamped = floor_mean(&Account::clamped);
  for (const auto part : kDeviceParts)
    mean.device.*part = rank_mean(ranks, [part](const Account& a) { return a.device.*part; }).floor;
  limit_to_stalls(mean);

  std::array<Mean, kWhys> whys;
  for (std::size_t w = 0; w < kWhys; ++w) {
    whys.at(w) = rank_mean(ranks, [w](const Account& a) { return a.why.at(w); });
  }
  const Nanos explained = rank_mean(ranks, [](const Account& a) {
                            return std::accumulate(a.why.begin(), a.why.end(), Nanos{0});
                          }).floor;
  const auto split = split_parts(whys, explained);
  std::copy(split.begin(), split.end(), mean.why.begin());
  return mean;
}

Account with_busy(Account account, double busy) {
  const double idle = static_cast<double>(account.idle());
  if (idle <= 0) return account;
  account.compute = std::llround(busy * static_cast<double>(account.window));
  Nanos left = account.idle();
  const double factor = static_cast<double>(left) / idle;
  Nanos* largest = &account.stall[Cause::other];
  for (Nanos& stall : account.stall) {
    stall = std::min(left, static_cast<Nanos>(std::llround(static_cast<double>(stall) * factor)));
    left -= stall;
    if (stall > *largest) largest = &stall;
  }
  *largest += left;
  for (Nanos* part : {&account.device.decode, &account.device.augment, &account.device.lane_wait})
    *part = static_cast<Nanos>(std::llround(static_cast<double>(*part) * factor));
  limit_to_stalls(account);
  return account;
}

}  // namespace loaderscope
