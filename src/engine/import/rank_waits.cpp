#include "engine/import/rank_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace loaderscope::traces {
namespace {

// Ends of one collective that lie farther apart on most occasions are of clocks that do not agree.
constexpr Nanos kOneClock = 500'000;
constexpr std::ptrdiff_t kNearby = 8;  // number of a rank's collectives whose ends are compared

// Collectives of each rank, sorted by end.
using Collectives = std::vector<std::vector<Collective>>;

bool may_be_same(const Collective& a, const Collective& b) {
  return a.name == b.name && a.begin < b.end && b.begin < a.end;
}

Nanos apart(const Collective& a, const Collective& b) { return std::abs(a.end - b.end); }

// Null: the other rank takes no part in it.
const Collective* find_same(const std::vector<Collective>& others, const Collective& one) {
  const auto at = std::partition_point(
      others.begin(), others.end(), [&](const Collective& other) { return other.end < one.end; });
  const auto from = at - std::min(kNearby, at - others.begin());
  const auto to = at + std::min(kNearby, others.end() - at);
  const Collective* nearest = nullptr;
  for (auto other = from; other != to; ++other) {
    if (!may_be_same(*other, one)) continue;
    if (nearest == nullptr || apart(*other, one) < apart(*nearest, one)) nearest = &*other;
  }
  return nearest;
}

class Matcher {
 public:
  explicit Matcher(const std::vector<RankView>& views) : views_(views) {
    waits_.ranks.resize(views.size());
    for (const RankView& view : views) {
      auto& sorted =
          sorted_by_end_.emplace_back(view.collectives->begin(), view.collectives->end());
      std::sort(sorted.begin(), sorted.end(),
                [](const Collective& a, const Collective& b) { return a.end < b.end; });
    }
  }

  RankWaits match() {
    for (std::size_t rank = 0; rank < views_.size(); ++rank)
      for (const Collective& one : sorted_by_end_[rank]) look_at(rank, one);
    judge();
    for (RankWait& wait : waits_.ranks) wait.for_loader = merged(std::move(wait.for_loader));
    return std::move(waits_);
  }

 private:
  void look_at(std::size_t rank, const Collective& one) {
    std::size_t last = rank;
    Nanos last_begin = one.begin;
    for (std::size_t other = 0; other < views_.size(); ++other) {
      if (other == rank) continue;
      const Collective* same = find_same(sorted_by_end_[other], one);
      if (same == nullptr) continue;
      distances_.push_back(apart(*same, one));
      if (same->begin <= last_begin) continue;
      last = other;
      last_begin = same->begin;
    }
    if (last != rank) book(rank, last, {one.begin, std::min(one.end, last_begin)});
  }

  // Ranks of one process have one loader, which is no other rank's.
  void book(std::size_t rank, std::size_t late, TimeRange at) {
    RankWait& wait = waits_.ranks[rank];
    wait.for_any += at.length();
    const RankView& view = views_[late];
    if (view.host == views_[rank].host) return;
    TimeRanges idle = {at};
    for (std::size_t k = 0; k < kGpuKinds; ++k) take(idle, view.gpu->work(static_cast<GpuKind>(k)));
    const TimeRanges waited = common(std::move(idle), view.host->loader_waits());
    if (waited.empty()) return;
    ++waits_.ranks[late].came_last;
    wait.for_loader.insert(wait.for_loader.end(), waited.begin(), waited.end());
  }

  void judge() {
    std::size_t all = 0;
    for (const auto& collectives : sorted_by_end_) all += collectives.size();
    if (all == 0) return;
    if (distances_.empty()) return forget("no collective of one is found in another's trace");
    const auto middle = distances_.begin() + std::ssize(distances_) / 2;
    std::nth_element(distances_.begin(), middle, distances_.end());
    waits_.are_known = *middle <= kOneClock;
    if (!waits_.are_known)
      forget(
          fmt::format("their clocks do not agree: the ends of one collective lie {:.1f} ms apart",
                      static_cast<double>(*middle) / 1e6));
  }

  void forget(std::string why) {
    waits_.untold = std::move(why);
    for (RankWait& wait : waits_.ranks) wait = {};
  }

  const std::vector<RankView>& views_;
  Collectives sorted_by_end_;
  std::vector<Nanos> distances_;
  RankWaits waits_;
};

}  // namespace

RankWaits waits_for_ranks(const std::vector<RankView>& views) {
  if (views.size() < 2) return {std::vector<RankWait>(views.size()), false, ""};
  return Matcher(views).match();
}

GapParts& GapParts::operator+=(const GapParts& other) {
  for (std::size_t i = 0; i < kGapKinds; ++i) times.at(i) += other.times.at(i);
  overhead += other.overhead;
  return *this;
}

// First what the GPU did; where it did nothing, what the host did.
GapParts GapReader::split_gap(TimeRange gap) const {
  GapParts parts;
  TimeRanges rest = {gap};
  parts[GapKind::pageable_copy] = take(rest, gpu_.work(GpuKind::from_pageable));
  parts[GapKind::copy] = take(rest, gpu_.work(GpuKind::from_pinned));
  parts[GapKind::copy_back] = take(rest, gpu_.work(GpuKind::to_host));
  for (const TimeRange quiet : rest) add_quiet(parts, quiet);
  return parts;
}

void GapReader::add_quiet(GapParts& parts, TimeRange quiet) const {
  TimeRanges rest = {quiet};
  parts.overhead += take(rest, host_.overhead());
  const Nanos since = gpu_.quiet_since(quiet.begin);
  const GpuView::Next next = gpu_.next_from(quiet.end);
  const Launch* launch =
      next.piece != nullptr ? host_.find_launch(next.piece->correlation) : nullptr;
  if (launch == nullptr) return add_before_launch(parts, host_.main(), std::move(rest), since);
  // A copy from pageable memory is staged by the host before the GPU begins with it.
  const bool stages = next.kind == GpuKind::from_pageable;
  const TimeRanges launched = {
      {std::max(launch->begin, quiet.begin), std::max(launch->begin, quiet.end)}};
  parts[stages ? GapKind::pageable_copy : GapKind::launch] += take(rest, launched);
  add_before_launch(parts, host_.thread(launch->thread), std::move(rest), since);
}

void GapReader::add_before_launch(GapParts& parts, const HostView::Thread& thread, TimeRanges rest,
                                  Nanos quiet_since) const {
  if (rest.empty()) return;
  const auto& ranges = thread.ranges;
  const TimeRanges& synchronous = ranges[HostKind::synchronous];
  parts[GapKind::loader] += take(rest, ranges[HostKind::loader_wait]);
  parts[GapKind::lock] += take(rest, ranges[HostKind::lock_wait]);
  // Once the host has waited for the GPU, all that it does until it launches again is waited for.
  const auto waited = find_later(synchronous, quiet_since);
  const bool comes_from_wait =
      waited != synchronous.end() && !rest.empty() && waited->begin < rest.back().end;
  parts[GapKind::synchronous] += take(rest, synchronous);
  parts[GapKind::file_read] += take(rest, ranges[HostKind::file_read]);
  parts[GapKind::system_wait] += take(rest, ranges[HostKind::system_wait]);
  parts[GapKind::off_core] += take(rest, ranges[HostKind::off_core]);
  parts[comes_from_wait ? GapKind::synchronous : GapKind::launch] += take(rest, thread.active);
  parts[GapKind::loader] += take(rest, host_.loader_waits());
  for (const TimeRange& range : rest) {
    const bool is_known = host_.has_loader() || range.length() < noticeable_;
    parts[is_known ? GapKind::launch : GapKind::unknown] += range.length();
  }
}

}  // namespace loaderscope::traces
