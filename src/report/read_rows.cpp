// Steps, reservoir rows and exemplars of a saved result.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "report/keys.h"
#include "report/record_parts.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMost32 = std::numeric_limits<std::int32_t>::max();

std::int32_t count32(const JsonCursor& json) {
  return static_cast<std::int32_t>(json.count(kMost32));
}

// Non-zero entries by name, each at most `most`.
template <class Enum, class Values>
void read_by_name(const JsonCursor& json, Nanos most, Values& values) {
  json.expect_object();
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::optional<Enum> word = value_of<Enum>(json.key(i));
    if (!word) json.fail(fmt::format("has the unknown entry '{}'", json.key(i)));
    values[*word] = json.item(i).seconds(0, most);
  }
}

void check_times(const JsonCursor& json, const StepRow& row, Nanos idle_begin) {
  if (row.idle_begin != idle_begin) json.fail("does not begin where the step before it ends");
  if (row.compute_begin < row.idle_begin || row.compute_end < row.compute_begin) {
    json.fail("has a compute that ends before it begins");
  }
}

void check_booking(const JsonCursor& json, const StepRow& row) {
  const auto at_most_idle = [&](Nanos sum) { return sum >= 0 && sum <= row.idle(); };
  Nanos booked = 0;
  for (Nanos ns : row.stall) {
    booked += ns;  // each is at most `idle`: the sum of 13 stays in range as long as it is checked
    if (!at_most_idle(booked)) break;
  }
  if (booked != row.idle()) {
    json.fail(fmt::format("books {} ns of {} ns of idle time to causes", booked, row.idle()));
  }
  Nanos explained = 0;
  for (Nanos ns : row.why) {
    explained += ns;
    if (!at_most_idle(explained)) json.fail("has more in why_s than it was idle");
  }
  if (row.not_asking > row.stall[Cause::launch])
    json.fail("has more in not_asking_s than in launch");
}

// Null is what never happened.
Nanos read_time(const JsonCursor& json) {
  if (json.is_null()) return kNever;
  return json.integer(-JsonCursor::kLatest, JsonCursor::kLatest);
}

Interval read_interval(const JsonCursor& json) {
  json.expect_array(4);
  Interval interval;
  interval.begin = json.item(0).integer(-JsonCursor::kLatest, JsonCursor::kLatest);
  interval.end = read_time(json.item(1));
  interval.cpu = json.item(2).count();
  interval.queued = json.item(3).count();
  return interval;
}

std::pair<std::int32_t, Span> read_span(const JsonCursor& json) {
  json.expect_array(9);
  const JsonCursor stage_name = json.item(1);
  const std::optional<Stage> stage = value_of<Stage>(stage_name.text());
  if (!stage) stage_name.fail("is not a stage");
  Span span;
  span.stage = *stage;
  span.begin = json.item(2).integer(-JsonCursor::kLatest, JsonCursor::kLatest);
  span.end = json.item(3).integer(-JsonCursor::kLatest, JsonCursor::kLatest);
  span.cpu = json.item(4).count();
  span.queued = json.item(5).count();
  span.batch = json.item(6).integer(-1, JsonCursor::kMostCount);
  span.sample = json.item(7).integer(-1, JsonCursor::kMostCount);
  span.bytes = json.item(8).count();
  return {count32(json.item(0)), span};
}

void shift(Nanos& at, Nanos by) {
  if (at != kNever) at += by;
}

}  // namespace

StepRow read_step(const JsonCursor& json, const RankRecord& rank, Nanos idle_begin,
                  std::int64_t most) {
  StepRow row;
  row.step = json.at("step").count();
  if (row.step != rank.rows.size()) {
    json.fail(fmt::format("is step {} where step {} is due", row.step, rank.rows.size()));
  }
  for (const auto& [name, member] : keys::kStepCounts) row.*member = count32(json.at(name));
  for (const auto& [name, member] : keys::kStepFlags) row.*member = json.at(name).boolean();
  for (const auto& [name, member] : keys::kStepTimes) {
    row.*member = rank.first_ask + json.at(name).seconds(-JsonCursor::kLatest, most);
  }
  check_times(json, row, idle_begin);
  read_by_name<Cause>(json.at("stall_s"), row.idle(), row.stall);
  read_by_name<Why>(json.at("why_s"), row.idle(), row.why);
  for (const auto& [name, member] : keys::kStepDurations) {
    const bool within_idle = member != &StepRow::clamped;
    if (json.has(name)) row.*member = json.at(name).seconds(0, within_idle ? row.idle() : most);
  }
  check_booking(json, row);
  return row;
}

CriticalPath read_critical_path(const JsonCursor& json, std::int64_t most) {
  CriticalPath path;
  path.compute = json.at("compute_s").seconds(0, most);
  read_by_name<Cause>(json.at("stall_s"), most, path.stall);
  return path;
}

SampleRow read_sample(const JsonCursor& json) {
  json.expect_array(6 + 3 * kSampleStages.size());
  SampleRow row;
  row.sample = json.item(1).count();
  row.batch = json.item(2).count();
  row.worker = count32(json.item(3));
  row.epoch = count32(json.item(4));
  row.bytes = json.item(5).count();
  std::size_t at = 6;
  for (SampleRow::Part& part : row.parts) {
    part.wall = json.item(at++).count();
    part.cpu = json.item(at++).count();
    part.queued = json.item(at++).count();
  }
  return row;
}

Exemplar read_exemplar(const JsonCursor& json) {
  Exemplar exemplar;
  exemplar.row.step = json.at("step").count();
  exemplar.worst = json.at("worst").boolean();
  StepEvents& events = exemplar.events;
  events.batch = json.at("batch").count();
  events.made_by_trainer = json.at("made_by_trainer").boolean();
  for (const auto& [name, member] : keys::kEventBytes) events.*member = json.at(name).count();
  events.worker_idle = json.at("worker_idle_ns").count();
  for (const auto& [name, member] : keys::kEventWaits) {
    if (json.has(name)) events.*member = json.at(name).count();
  }
  const JsonCursor times = json.at("times_ns");
  for (const auto& [name, member] : keys::kEventTimes) events.*member = read_time(times.at(name));
  const JsonCursor intervals = json.at("intervals_ns");
  intervals.expect_object();
  for (const auto& [name, member] : keys::kEventIntervals) {
    if (intervals.has(name)) events.*member = read_interval(intervals.at(name));
  }
  const JsonCursor spans = json.at("spans");
  spans.expect_array();
  for (std::size_t i = 0; i < spans.size(); ++i) exemplar.spans.push_back(read_span(spans.item(i)));
  return exemplar;
}

void place_exemplar(Exemplar& exemplar, Nanos first_ask, const StepRow& row) {
  exemplar.row = row;
  StepEvents& events = exemplar.events;
  events.step = row.step;
  events.epoch = row.epoch;
  events.first_of_epoch = row.first_of_epoch;
  events.warmup = row.warmup;
  events.worker = row.worker;
  events.samples = row.samples;
  for (const auto& [name, member] : keys::kEventTimes) shift(events.*member, first_ask);
  for (const auto& [name, member] : keys::kEventIntervals) {
    shift((events.*member).begin, first_ask);
    shift((events.*member).end, first_ask);
  }
  for (auto& [worker, span] : exemplar.spans) {
    span.begin += first_ask;
    span.end += first_ask;
  }
}

}  // namespace loaderscope
