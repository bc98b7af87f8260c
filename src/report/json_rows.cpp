// The long arrays of the result: steps, reservoir, exemplars. One line each, nothing held.
#include "report/json_stream.h"
#include "report/json_writer.h"
#include "report/keys.h"

namespace loaderscope {
namespace {

// The non-zero entries by name.
template <class Enum, class Values>
void write_non_zero(JsonStream& json, std::string_view key, const Values& values) {
  json.begin_object(key);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto word = static_cast<Enum>(i);
    if (values[word] != 0) json.member(name_of(word), Seconds{values[word]});
  }
  json.end_object();
}

void write_step(JsonStream& json, std::int64_t rank, Nanos first_ask, const StepRow& row) {
  json.begin_object({}, kCompact);
  json.member("rank", rank);
  json.member("step", row.step);
  for (const auto& [name, member] : keys::kStepCounts) json.member(name, std::int64_t{row.*member});
  for (const auto& [name, member] : keys::kStepFlags) json.member(name, row.*member);
  for (const auto& [name, member] : keys::kStepTimes) {
    json.member(name, Seconds{row.*member - first_ask});
  }
  write_non_zero<Cause>(json, "stall_s", row.stall);
  write_non_zero<Why>(json, "why_s", row.why);
  for (const auto& [name, member] : keys::kStepDurations) {
    if (row.*member != 0) json.member(name, Seconds{row.*member});
  }
  json.end_object();
}

void write_sample(JsonStream& json, std::int64_t rank, const SampleRow& row) {
  json.begin_array({}, kCompact);
  for (std::int64_t value : {rank, row.sample, row.batch, std::int64_t{row.worker},
                             std::int64_t{row.epoch}, row.bytes}) {
    json.element(value);
  }
  for (const SampleRow::Part& part : row.parts) {
    for (Nanos ns : {part.wall, part.cpu, part.queued}) json.element(ns);
  }
  json.end_array();
}

// What never happened is null.
void write_time(JsonStream& json, std::string_view key, Nanos at, Nanos first_ask) {
  if (at == kNever) return json.null(key);
  json.member(key, at - first_ask);
}

void write_events(JsonStream& json, const StepEvents& events, Nanos first_ask) {
  json.member("batch", events.batch);
  json.member("made_by_trainer", events.made_by_trainer);
  for (const auto& [name, member] : keys::kEventBytes) json.member(name, events.*member);
  json.member("worker_idle_ns", events.worker_idle);
  for (const auto& [name, member] : keys::kEventWaits) {
    if (events.*member != 0) json.member(name, events.*member);
  }
  json.begin_object("times_ns");
  for (const auto& [name, member] : keys::kEventTimes) {
    write_time(json, name, events.*member, first_ask);
  }
  json.end_object();
  json.begin_object("intervals_ns");
  for (const auto& [name, member] : keys::kEventIntervals) {
    const Interval& interval = events.*member;
    if (!interval.ran()) continue;
    json.begin_array(name);
    write_time(json, {}, interval.begin, first_ask);
    write_time(json, {}, interval.end, first_ask);
    json.element(interval.cpu);
    json.element(interval.queued);
    json.end_array();
  }
  json.end_object();
}

void write_span(JsonStream& json, std::int64_t worker, const Span& span, Nanos first_ask) {
  json.begin_array();
  json.element(worker);
  json.element(name_of(span.stage));
  for (std::int64_t value : {span.begin - first_ask, span.end - first_ask, span.cpu, span.queued,
                             span.batch, span.sample, span.bytes}) {
    json.element(value);
  }
  json.end_array();
}

void write_exemplar(JsonStream& json, std::int64_t rank, Nanos first_ask,
                    const Exemplar& exemplar) {
  json.begin_object({}, kCompact);
  json.member("rank", rank);
  json.member("step", exemplar.row.step);
  json.member("worst", exemplar.worst);
  write_events(json, exemplar.events, first_ask);
  json.begin_array("spans");
  for (const auto& [worker, span] : exemplar.spans) write_span(json, worker, span, first_ask);
  json.end_array();
  json.end_object();
}

template <class Visit>
void for_each_rank(const RunRecord& record, const Visit& visit) {
  for (std::size_t r = 0; r < record.ranks.size(); ++r) {
    visit(static_cast<std::int64_t>(r), record.ranks[r]);
  }
}

}  // namespace

void write_critical_path(JsonStream& json, const CriticalPath& path) {
  json.begin_object("critical_path");
  json.member("compute_s", Seconds{path.compute});
  write_non_zero<Cause>(json, "stall_s", path.stall);
  json.end_object();
}

void write_steps(JsonStream& json, const RunRecord& record) {
  json.begin_array(keys::kSteps);
  for_each_rank(record, [&](std::int64_t r, const RankRecord& rank) {
    rank.rows.for_each([&](const StepRow& row) { write_step(json, r, rank.first_ask, row); });
  });
  json.end_array();
}

void write_reservoir(JsonStream& json, const RunRecord& record) {
  json.begin_array(keys::kReservoir);
  for_each_rank(record, [&](std::int64_t r, const RankRecord& rank) {
    for (const SampleRow& row : rank.reservoir) write_sample(json, r, row);
  });
  json.end_array();
}

void write_exemplars(JsonStream& json, const RunRecord& record) {
  json.begin_array(keys::kExemplars);
  for_each_rank(record, [&](std::int64_t r, const RankRecord& rank) {
    for (const Exemplar& exemplar : rank.exemplars)
      write_exemplar(json, r, rank.first_ask, exemplar);
  });
  json.end_array();
}

}  // namespace loaderscope
