#include "guest/host/gpu_timeline.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMaxRanges = std::size_t{1} << 20;  // per step; more ranges are merged
constexpr std::size_t kMaxCalls = std::size_t{1} << 16;   // far more than a GPU queues

using TimeRanges = std::deque<TimeRange>;

// Returns the time that is in at least one of the ranges, which are ordered by begin.
template <class Ranges, class GetRange>
Nanos covered(const Ranges& sorted, const GetRange& get_range) {
  Nanos sum = 0, until = std::numeric_limits<Nanos>::min();
  for (const auto& one : sorted) {
    const TimeRange& range = get_range(one);
    sum += std::max<Nanos>(0, range.end - std::max(range.begin, until));
    until = std::max(until, range.end);
  }
  return sum;
}

// Ranges that are added step by step. Each step returns the time that it adds.
class Cover {
 public:
  Nanos add(const TimeRanges& more) {
    if (more.empty()) return 0;
    all_.insert(all_.end(), more.begin(), more.end());
    std::sort(all_.begin(), all_.end(),
              [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
    const Nanos before = std::exchange(
        covered_, covered(all_, [](const TimeRange& range) -> const TimeRange& { return range; }));
    return covered_ - before;
  }

 private:
  TimeRanges all_;
  Nanos covered_ = 0;
};

Nanos last_end(const TimeRanges& ranges) {
  Nanos last = std::numeric_limits<Nanos>::min();
  for (const TimeRange& range : ranges) last = std::max(last, range.end);
  return last;
}

// Removes and returns the parts after `at`.
TimeRanges cut_ranges_after(TimeRanges& ranges, Nanos at) {
  TimeRanges before, after;
  for (const TimeRange& range : ranges) {
    if (range.begin < at) before.push_back({range.begin, std::min(range.end, at)});
    if (range.end > at) after.push_back({std::max(range.begin, at), range.end});
  }
  ranges = std::move(before);
  return after;
}

// Places parts in a row, from the last one to the first, and none before `least`.
class Packer {
 public:
  Packer(Nanos end, Nanos least) : at_(end), least_(least) {}

  Interval place(Nanos length) {
    const Nanos end = at_;
    at_ = std::max(at_ - length, std::min(at_, least_));
    return at_ < end ? Interval{at_, end, 0, 0} : Interval{};
  }

 private:
  Nanos at_, least_;
};

}  // namespace

void CallStages::add(std::uint32_t call, Stage stage) {
  if (!stages_.insert_or_assign(call, stage).second) return;
  calls_.push_back(call);
  if (calls_.size() <= kMaxCalls) return;
  stages_.erase(calls_.front());
  calls_.pop_front();
}

Stage CallStages::find(std::uint32_t call) const {
  const auto found = call != 0 ? stages_.find(call) : stages_.end();
  return found != stages_.end() ? found->second : Stage::compute;
}

Nanos GpuTimeline::Production::end() const { return std::max(last_end(decode), last_end(augment)); }

GpuTimeline::Production GpuTimeline::Production::cut_after(Nanos at) {
  return {cut_ranges_after(decode, at), cut_ranges_after(augment, at)};
}

void GpuTimeline::kernel(Nanos begin, Nanos end, std::uint32_t call) {
  add(kernels_, begin, end, call);
  known_until_ = std::max(known_until_, end);
}

void GpuTimeline::copy(Nanos begin, Nanos end, Bytes bytes, std::uint32_t call) {
  add(copies_, begin, end, call);
  copied_ += end - begin;
  copied_bytes_ += bytes;
}

void GpuTimeline::decode_call(Nanos begin, Nanos end) { add(decode_calls_, begin, end, 0); }

void GpuTimeline::add(Activities& all, Nanos begin, Nanos end, std::uint32_t call) {
  if (all.size() >= kMaxRanges) {
    const Nanos last = all.back().range.end;
    const auto get_range = [](const Activity& one) -> const TimeRange& { return one.range; };
    all = {{{last - covered(all, get_range), last}, 0}};
  }
  if (begin < taken_until_) ++late_;
  begin = std::max(begin, taken_until_);
  if (end <= begin) return;
  const auto place =
      std::upper_bound(all.begin(), all.end(), begin,
                       [](Nanos at, const Activity& one) { return at < one.range.begin; });
  all.insert(place, {{begin, end}, call});
}

GpuTimeline::Activities GpuTimeline::cut(Activities& from, Nanos begin, Nanos end) {
  Activities inside, beyond;
  while (!from.empty() && from.front().range.begin < end) {
    const Activity one = from.front();
    from.pop_front();
    const TimeRange clipped = intersect(one.range, {begin, end});
    if (!clipped.empty()) inside.push_back({clipped, one.call});
    if (one.range.end > end) beyond.push_back({{end, one.range.end}, one.call});
  }
  from.insert(from.begin(), beyond.begin(), beyond.end());
  return inside;
}

GpuTimeline::TimeRanges GpuTimeline::split(const Activities& all, Production& made) const {
  TimeRanges rest;
  for (const Activity& one : all) {
    const Stage stage = stages_.find(one.call);
    TimeRanges& ranges = stage == Stage::gpu_decode    ? made.decode
                         : stage == Stage::gpu_augment ? made.augment
                                                       : rest;
    ranges.push_back(one.range);
  }
  return rest;
}

std::optional<GpuTimeline::Work> GpuTimeline::take(Nanos begin, Nanos end) {
  const Activities kernels = cut(kernels_, begin, end);
  const Activities all_copies = cut(copies_, begin, end);
  const Activities calls = cut(decode_calls_, begin, end);
  taken_until_ = std::max(taken_until_, end);
  if (kernels.empty() && calls.empty()) return std::nullopt;

  Production made = std::exchange(made_ahead_, {});
  const TimeRanges training = split(kernels, made);
  TimeRanges copies = split(all_copies, made);
  for (const Activity& call : calls) made.decode.push_back(call.range);
  const Nanos last = training.empty() ? made.end() : last_end(training);
  made_ahead_ = made.cut_after(last);
  cut_ranges_after(copies, last);  // this step does not wait for them

  Work work;
  Packer packer(last, begin);
  Cover cover;
  const Nanos computing = cover.add(training);
  work.compute = {last - computing, last, 0, 0};
  packer.place(computing);
  if (!made.empty()) {
    Cover loader_cover;
    const Nanos making = loader_cover.add(made.decode) + loader_cover.add(made.augment);
    const Nanos decoding = cover.add(made.decode), augmenting = cover.add(made.augment);
    work.hidden = making - decoding - augmenting;
    work.augment = packer.place(augmenting);
    work.decode = packer.place(decoding);
  }
  work.copy = packer.place(cover.add(copies));
  return work;
}

}  // namespace loaderscope::guest
