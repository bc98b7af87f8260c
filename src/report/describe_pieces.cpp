// The long arrays of the result: steps, reservoir, exemplars. One line each, nothing held.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "report/describe.h"

namespace loaderscope {
namespace {

constexpr const char* kNs = "integer nanoseconds since the rank's first ask";
constexpr const char* kBegin = "begin, integer nanoseconds since the rank's first ask";
constexpr const char* kEnd = "end, integer nanoseconds since the rank's first ask";

// A duration that is left out when it is 0.
void describe_duration(ResultVisitor& form, std::string_view name, Nanos& value,
                       std::string_view sentence) {
  form.if_there(name, value != 0, AbsentValue::left_out,
                [&] { form.seconds(name, value, sentence); });
}

void describe_unless_0(ResultVisitor& form, std::string_view name, std::int64_t& value,
                       std::string_view sentence) {
  form.if_there(name, value != 0, AbsentValue::left_out,
                [&] { form.whole(name, value, sentence); });
}

void describe_interval(ResultVisitor& form, std::string_view name, Interval& interval) {
  form.if_there(name, interval.ran(), AbsentValue::left_out, [&] {
    form.row(name, "ns", [&] {
      form.moment_ns("", interval.begin, kBegin);
      form.moment_ns("", interval.end, kEnd);
      form.whole("", interval.cpu, "on a CPU, ns");
      form.whole("", interval.queued, "runnable without a core, ns");
    });
  });
}

void describe_task(ResultVisitor& form, DeviceWork& task) {
  form.row("", "one task", [&] {
    form.word("", task.stage, "stage");
    form.word("", task.lane, "queue of the device");
    form.moment_ns("", task.submit.begin, "begin of the host's call, ns since the first ask");
    form.moment_ns("", task.submit.end, "end of that call, ns since the first ask");
    form.whole("", task.submit.cpu, "CPU time of that call, ns");
    form.whole("", task.submit.queued, "run-queue delay of that call, ns");
    form.moment_ns("", task.at.begin, "begin on the device, ns since the first ask");
    form.moment_ns("", task.at.end, "end on the device, ns since the first ask");
  });
}

void describe_device_work(ResultVisitor& form, StepEvents& events) {
  form.if_there("device", events.is_made_on_device(), AbsentValue::left_out, [&] {
    form.object("device", "production on the device", [&] {
      form.if_there("submitted_by_trainer", events.submitted_by_trainer, AbsentValue::left_out,
                    [&] {
                      form.flag("submitted_by_trainer", events.submitted_by_trainer,
                                "the trainer submitted the tasks itself, once it had the batch");
                    });
      form.moment_ns("handed", events.handed, kNs);
      form.moment_ns("submitted", events.submitted, kNs);
      form.whole("slot_wait_ns", events.slot_wait, "wait for a free slot of the device, ns");
      form.whole("copied_bytes", events.copied_bytes, "bytes that the tasks copied to the device");
      std::vector<DeviceWork> tasks(events.device_work().begin(), events.device_work().end());
      form.list("tasks", tasks, "tasks of the device, in the order of their submission",
                [&](DeviceWork& task) { describe_task(form, task); });
      if (!form.reads()) return;
      if (tasks.size() > kMaxDeviceWork)
        form.refuse("has " + std::to_string(tasks.size()) + " tasks, and a batch has at most " +
                    std::to_string(kMaxDeviceWork));
      events.made_count = static_cast<std::uint8_t>(tasks.size());
      std::copy(tasks.begin(), tasks.end(), events.made.begin());
    });
  });
}

void describe_events(ResultVisitor& form, StepEvents& events) {
  form.whole("batch", events.batch, "dispatch index");
  form.flag("made_by_trainer", events.made_by_trainer, "without workers: made after the ask");
  form.whole("read_bytes", events.read_bytes, "stored bytes read");
  form.whole("delivered_bytes", events.delivered_bytes, "bytes to the device");
  describe_work(form, events.work);
  form.whole("worker_idle_ns", events.worker_idle,
             "its worker had rested with the window full, ns");
  describe_unless_0(form, "ask_queued_ns", events.ask_queued,
                    "the trainer waited for a core so long just before it asked, ns");
  describe_unless_0(
      form, "take_queued_ns", events.take_queued,
      "the trainer waited for a core so long just before it took the batch that was ready, ns");
  describe_unless_0(form, "kept_from_sending_ns", events.kept_from_sending,
                    "just before sending, its worker had the interpreter and was busy, ns");
  describe_unless_0(form, "answering_ns", events.answering,
                    "of receiving, its worker was busy and was waited for, ns");
  describe_device_work(form, events);
  form.object("times_ns", "moments; null: never", [&] {
    form.moment_ns("epoch_dispatch", events.epoch_dispatch, kNs);
    form.moment_ns("dispatched", events.dispatched, kNs);
    form.moment_ns("begun", events.begun, kNs);
    form.moment_ns("finished", events.finished, kNs);
    form.moment_ns("deliverable", events.deliverable, kNs);
    form.moment_ns("ask", events.ask, kNs);
    form.moment_ns("take", events.take, kNs);
    form.moment_ns("ready", events.ready, kNs);
  });
  form.object("intervals_ns", "what ran: [begin, end, on a CPU, runnable without a core]", [&] {
    describe_interval(form, "send", events.send);
    describe_interval(form, "receive", events.receive);
    describe_interval(form, "pin", events.pin);
    describe_interval(form, "copy", events.copy);
    describe_interval(form, "launch", events.launch);
    describe_interval(form, "compute", events.compute);
  });
}

void describe_span(ResultVisitor& form, std::pair<std::int32_t, Span>& piece) {
  auto& [worker, span] = piece;
  constexpr IntegerRange kOrNone{-1};
  form.row("", "one span", [&] {
    form.whole("", worker, "worker");
    form.word("", span.stage, "stage");
    form.moment_ns("", span.begin, kBegin);
    form.moment_ns("", span.end, kEnd);
    form.whole("", span.cpu, "on a CPU, ns");
    form.whole("", span.queued, "runnable without a core, ns");
    form.whole("", span.batch, "dispatch index of the batch; -1: none", kOrNone);
    form.whole("", span.sample, "index of the sample in the data set; -1: none", kOrNone);
    form.whole("", span.bytes, "bytes handled");
  });
}

void describe_moments(ResultVisitor& form, StepRow& row) {
  form.moment("ask_s", row.ask, "the trainer wanted the batch, seconds since the rank's first ask");
  form.moment("deliverable_s", row.deliverable,
              "the batch was ready to be taken, seconds since the rank's first ask");
  form.moment("take_s", row.take, "the trainer had it, seconds since the rank's first ask");
  form.moment("copy_begin_s", row.copy_begin,
              "its copy to the device began, seconds since the rank's first ask");
  form.moment("copy_end_s", row.copy_end, "its copy ended, seconds since the rank's first ask");
  form.moment("idle_begin_s", row.idle_begin,
              "end of the compute before, or the first ask, seconds since the rank's first ask");
  form.moment("compute_begin_s", row.compute_begin,
              "its compute began, seconds since the rank's first ask");
  form.moment("compute_end_s", row.compute_end,
              "its compute ended, seconds since the rank's first ask");
}

using EachRank = std::function<void(std::int64_t rank, RankRecord& record)>;

// Shows `one_piece` in a schema, else the pieces of every rank. The reader reads them one by one.
void describe_array(ResultVisitor& form, std::string_view name, std::string_view sentence,
                    RunRecord& record, const std::function<void()>& one_piece,
                    const EachRank& each_rank) {
  form.array(name, sentence, [&] {
    if (form.explains()) return one_piece();
    if (form.reads()) return;
    for (std::size_t r = 0; r < record.ranks.size(); ++r) {
      form.origin = record.ranks[r].first_ask;
      each_rank(static_cast<std::int64_t>(r), record.ranks[r]);
    }
  });
}

}  // namespace

void describe_work(ResultVisitor& form, WorkCounts& work) {
  describe_unless_0(form, "opened", work.opened, "files opened for its samples");
  describe_unless_0(form, "requests", work.requests, "reads that the kernel was asked for");
  describe_unless_0(form, "allocations", work.allocations, "by C++ code that made its samples");
}

void describe_step(ResultVisitor& form, std::int64_t rank, StepRow& row) {
  form.object(
      "", "one step",
      [&] {
        form.whole("rank", rank, "rank");
        form.whole("step", row.step, "delivery index within the rank, warm-up included");
        form.whole("epoch", row.epoch, "epoch");
        form.whole("worker", row.worker, "worker that finished the batch");
        form.whole("samples", row.samples, "samples in the batch");
        form.flag("warmup", row.warmup, "before the window");
        form.flag("first_of_epoch", row.first_of_epoch, "first step of its epoch");
        describe_moments(form, row);
        form.column("idle_s", row.idle());
        form.column("compute_s", row.compute());
        format_seconds_but_zeros<Cause>(
            form, "stall_s", row.stall,
            "idle time before its compute by cause, seconds; causes of 0 are left out", "seconds");
        format_seconds_but_zeros<Why>(
            form, "why_s", row.why,
            "second label of waiting for the batch to be made, seconds; those of 0 are left out",
            "seconds");
        describe_duration(form, "not_asking_s", row.not_asking,
                          "of launch: a batch was ready and the trainer did not ask, seconds; left "
                          "out when 0");
        describe_duration(form, "waiting_for_ranks_s", row.waiting_for_ranks,
                          "ready and waiting for another rank, seconds; left out when 0");
        describe_duration(form, "order_s", row.order,
                          "a later batch was ready meanwhile, seconds; left out when 0");
        describe_duration(form, "clamped_s", row.clamped,
                          "moved to bring times into order, seconds; left out when 0");
        describe_production(form, row.device);
        form.if_there("made_end_s", row.made_end != 0, AbsentValue::left_out, [&] {
          form.moment("made_end_s", row.made_end,
                      "the device ended its work on the batch, later than the trainer, seconds "
                      "since the rank's first ask");
        });
      },
      Lines::one);
}

void describe_sample(ResultVisitor& form, std::int64_t rank, SampleRow& row) {
  form.row("", "one sample, or one batch whose samples were not seen singly, as integers", [&] {
    form.whole("", rank, "rank");
    form.whole("", row.sample,
               "index in the data set; -n: the row is of a whole batch of n samples",
               {.least = -IntegerRange::kMax});
    form.whole("", row.batch, "dispatch index of its batch");
    form.whole("", row.worker, "worker");
    form.whole("", row.epoch, "epoch");
    form.whole("", row.bytes, "stored bytes");
    for (std::size_t i = 0; i < kSampleStages.size(); ++i) {
      SampleRow::Part& part = row.parts[i];
      const std::string stage(name_of(kSampleStages[i]));
      form.whole("", part.wall, stage + ": wall, ns");
      form.whole("", part.cpu, stage + ": on a CPU, ns");
      form.whole("", part.queued, stage + ": runnable without a core, ns");
    }
  });
}

void describe_exemplar(ResultVisitor& form, std::int64_t rank, Exemplar& exemplar) {
  form.object(
      "", "one step in full",
      [&] {
        form.whole("rank", rank, "rank");
        form.whole("step", exemplar.row.step, "its entry in steps");
        form.flag("worst", exemplar.worst,
                  "among the worst stalls; otherwise among the first steps");
        describe_events(form, exemplar.events);
        form.list("spans", exemplar.spans, "work on its batch",
                  [&](std::pair<std::int32_t, Span>& span) { describe_span(form, span); });
      },
      Lines::one);
}

void describe_pieces(ResultVisitor& form, RunRecord& record) {
  StepRow step;
  SampleRow sample;
  Exemplar exemplar;
  describe_array(
      form, kSteps, "every step, warm-up included, by rank and step", record,
      [&] { describe_step(form, 0, step); },
      [&](std::int64_t r, RankRecord& rank) {
        rank.rows.for_each([&](StepRow row) { describe_step(form, r, row); });
      });
  describe_array(
      form, kReservoir,
      "whole samples drawn at random from the window; whole batches of a rank without single "
      "samples",
      record, [&] { describe_sample(form, 0, sample); },
      [&](std::int64_t r, RankRecord& rank) {
        for (SampleRow& row : rank.reservoir) describe_sample(form, r, row);
      });
  describe_array(
      form, kExemplars, "steps kept in full: the first ones and those of the worst stalls", record,
      [&] { describe_exemplar(form, 0, exemplar); },
      [&](std::int64_t r, RankRecord& rank) {
        for (Exemplar& one : rank.exemplars) describe_exemplar(form, r, one);
      });
}

}  // namespace loaderscope
