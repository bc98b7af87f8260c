// Measurements of each rank.
#include <fmt/format.h>

#include <cmath>

#include "analysis/totals.h"
#include "report/describe.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxBuckets = 8192;  // more than a histogram of 64-bit ns has

void describe_histogram(ResultVisitor& form, StageStats& stats) {
  Nanos longest = stats.wall_histogram.max();
  form.seconds("max_s", longest, "longest, seconds");
  describe_buckets(form, stats.wall_histogram, longest,
                   "histogram of the durations: [index, count, sum in ns], ascending. Durations "
                   "below 128 ns have their own bucket; above, every power of two is cut into 128");
  const std::int64_t counted = stats.wall_histogram.count();
  if (form.reads() && counted != stats.count)
    form.refuse(fmt::format("has buckets that hold {} executions where the stage has {}", counted,
                            stats.count));
}

void describe_critical_path(ResultVisitor& form, CriticalPath& path) {
  form.object(
      "critical_path",
      "what its steps hung on: the chain of events, each begun by the end of the one before, that "
      "led to the end of the window",
      [&] {
        form.seconds("compute_s", path.compute, "GPU computing, seconds");
        format_seconds_but_zeros<Cause>(form, "stall_s", path.stall,
                                        "seconds by cause; those of 0 are left out", "seconds");
      });
}

}  // namespace

void describe_buckets(ResultVisitor& form, Histogram& histogram, std::int64_t most,
                      ResultVisitor::Sentence sentence) {
  std::vector<Histogram::Bucket> buckets = histogram.buckets();
  if (form.reads()) buckets.clear();
  form.list(
      "buckets", buckets, sentence,
      [&](Histogram::Bucket& bucket) {
        form.row("", "one bucket", [&] {
          std::int64_t index = bucket.index;
          form.whole("", index, "index", {0, kMaxBuckets});
          bucket.index = static_cast<std::int32_t>(index);
          form.whole("", bucket.count, "count", {1});
          form.whole("", bucket.sum, "sum, ns");
        });
      },
      Lines::one);
  if (!form.reads()) return;
  std::int64_t counted = 0, sum = 0, last = -1;
  for (const Histogram::Bucket& bucket : buckets) {
    if (bucket.index <= last) form.refuse("has buckets that do not ascend");
    if (bucket.count > IntegerRange::kMax - counted || bucket.sum > IntegerRange::kMax - sum)
      form.refuse("has buckets whose sum is out of range");
    counted += bucket.count;
    sum += bucket.sum;
    last = bucket.index;
  }
  histogram = Histogram::from_buckets(buckets, most);
}

void describe_stage(ResultVisitor& form, StageStats& stats) {
  form.whole("count", stats.count, "executions in the window", {1});
  form.seconds("wall_s", stats.wall, "sum of their durations, seconds");
  form.seconds("cpu_s", stats.cpu, "of it on a CPU, seconds");
  form.seconds("queued_s", stats.queued, "of it runnable without a core, seconds");
  form.whole("bytes", stats.bytes, "handled, bytes");
}

void describe_queues(ResultVisitor& form, std::vector<QueueStats>& queues,
                     std::string_view sentence) {
  std::vector<std::pair<std::string, QueueStats>> named;
  for (const QueueStats& queue : queues) named.emplace_back(queue.name, queue);
  if (form.reads()) named.clear();
  form.entries("queues", named, sentence, [&](std::string_view name, QueueStats& queue) {
    form.object(name, "one queue", [&] {
      form.whole("capacity", queue.capacity, "places");
      form.whole("max_occupancy", queue.max_occupancy, "most taken");
      form.if_there("mean_occupancy", std::isfinite(queue.mean_occupancy), AbsentValue::null, [&] {
        form.real("mean_occupancy", queue.mean_occupancy, "mean taken over the window");
      });
      form.seconds("get_wait_s", queue.get_wait, "takers waited while it was empty, seconds");
      form.seconds("put_wait_s", queue.put_wait, "givers waited while it was full, seconds");
    });
    if (form.reads()) queue.name = name;
  });
  if (!form.reads()) return;
  queues.clear();
  for (auto& [name, queue] : named) queues.push_back(std::move(queue));
}

void describe_stalls(ResultVisitor& form, Account& account) {
  form.seconds("compute_s", account.compute,
               "GPU computing, seconds; compute_s and all of stall_s are the window to the "
               "nanosecond");
  format_seconds<Cause>(form, "stall_s", account.stall,
                        "GPU idle time by what it waited for, seconds; every cause is there",
                        "waiting for it, seconds");
}

void describe_account(ResultVisitor& form, Account& account, bool knows_order) {
  describe_stalls(form, account);
  form.object("launch", "stall_s.launch in two", [&] {
    form.seconds("launching_s", account.launching,
                 "the trainer had the batch and had not begun its copy or compute, seconds");
    form.seconds("not_asking_s", account.not_asking,
                 "a batch was ready and the trainer did not ask for it, seconds");
  });
  form.if_there("why", knows_order, AbsentValue::null, [&] {
    form.object("why",
                "second label of the time spent waiting for a batch to be made; null of a trace, "
                "which does not have it",
                [&] {
                  for (const auto& word : Words<Why>::table())
                    form.seconds(std::string(word.name) + "_s", account.why[word.value], word.help);
                });
  });
  form.seconds("waiting_for_ranks_s", account.waiting_for_ranks,
               "of all causes: this rank was ready and waited for the slowest, seconds");
  form.if_there("order_s", knows_order, AbsentValue::null, [&] {
    form.seconds("order_s", account.order,
                 "a later batch was ready while a late one was waited for, seconds; null of a "
                 "trace, which does not have it");
  });
  form.seconds("clamped_s", account.clamped,
               "moved to bring the times of steps into order, seconds");
  describe_production(form, account.device);
}

void describe_production(ResultVisitor& form, DeviceProduction& device) {
  form.if_there("on_device_s", device.stall() > 0, AbsentValue::left_out, [&] {
    form.object("on_device_s", "parts of stall_s: the device itself made the batch", [&] {
      form.seconds("decode", device.decode, "decoding on the device, seconds");
      form.seconds("augment", device.augment, "augmenting on the device, seconds");
    });
  });
  form.if_there("lane_wait_s", device.lane_wait > 0, AbsentValue::left_out, [&] {
    form.seconds("lane_wait_s", device.lane_wait,
                 "part of stall_s: no task of the batch ran on the device yet, seconds");
  });
  form.if_there("shared_s", device.shared > 0, AbsentValue::left_out, [&] {
    form.seconds("shared_s", device.shared,
                 "the device made batches during a compute; no part of stall_s, seconds");
  });
}

namespace {

void describe_loader_call(ResultVisitor& form, LoaderCall& call) {
  form.object("loader_call", "the line of the program that made its loader", [&] {
    form.text("file", call.file, "path of the file, or a name in <> of code without a file");
    form.whole("line", call.line, "number of the line");
    form.text("made", call.made, "full name of the class of the loader");
    form.text("called", call.called,
              "full name of the function that the line called; empty if it made the loader itself");
    form.text("python", call.python, "path of the interpreter");
    form.text("digest", call.digest,
              "hash of the content of the file; empty if it is unknown or the file changed");
  });
}

}  // namespace

void describe_program(ResultVisitor& form, std::optional<ProgramFacts>& known) {
  form.optional("program", known, AbsentValue::left_out, [&](ProgramFacts& program) {
    form.object("program", "the measured program, as far as advice is worded by it", [&] {
      form.texts("made_by", program.made_by,
                 "packages that its loader was made through, the innermost first", Lines::one);
      form.texts("data_of", program.data_of, "packages that the class of its data set is from",
                 Lines::one);
      form.flag("uses_gpu", program.uses_gpu, "one of its processes has used a GPU");
      form.optional("loader_call", program.loader_call, AbsentValue::left_out,
                    [&](LoaderCall& call) { describe_loader_call(form, call); });
    });
  });
}

void describe_loaders(ResultVisitor& form, std::vector<LoaderUse>& loaders) {
  form.if_there("loaders", !loaders.empty(), AbsentValue::left_out, [&] {
    form.list("loaders", loaders,
              "all that the measured program takes batches from; absent where there is one",
              [&](LoaderUse& loader) {
                form.object("", "one loader", [&] {
                  form.text("dataset", loader.dataset, "the name of its class");
                  form.text("place", loader.place, "FILE:LINE that made the loader");
                  form.flag("measured", loader.measured, "the account is of it");
                  form.flag("with_gradients", loader.with_gradients,
                            "gradients were wanted of its batches: it is no validation");
                  form.whole("iterations", loader.iterations, "how often it was iterated");
                  form.whole("batches", loader.batches, "that were taken");
                  form.real("waited_share", loader.waited,
                            "of the time from the program's first ask to its last batch, waiting "
                            "for batches of this loader",
                            kShare);
                  form.real("loop_share", loader.looped,
                            "of that time, in loops over it, the waits among that", kShare);
                });
              });
  });
}

void describe_rank(ResultVisitor& form, RankRecord& rank, std::int64_t& steps, Account account,
                   KnownOfRank known) {
  form.object("", "one rank", [&] {
    form.whole("first_ask_ns", rank.first_ask,
               "its first ask, integer ns of CLOCK_MONOTONIC or virtual time");
    form.origin = rank.first_ask;
    form.object("window", "its window", [&] {
      form.moment("begin_s", rank.window_begin, "seconds since its first ask", {});
      form.moment("end_s", rank.window_end, "seconds since its first ask", {});
      form.shown_seconds("wall_s", account.window, "length, seconds");
      form.whole("warmup_steps", rank.warmup_steps, "steps before");
      form.whole("steps", steps, "measured steps");
    });
    form.whole("samples", rank.samples, "of the window");
    form.whole("read_bytes", rank.read_bytes, "of the window, bytes");
    form.whole("delivered_bytes", rank.delivered_bytes, "of the window, bytes");
    describe_work(form, rank.work);
    form.whole("reservoir_seen", rank.reservoir_seen,
               "samples, or whole batches, that the reservoir was drawn from");
    const bool knows_samples = rank.samples > 0 || rank.steps() == 0;
    form.shown("samples_per_s",
               knows_samples ? std::optional(rank_rate(rank, &RankRecord::samples)) : std::nullopt,
               "per second; null if samples were not counted", kNotNegative);
    form.shown("busy", known.has_busy ? std::optional(busy_share(account)) : std::nullopt,
               "share of its window; null without compute", kShare);
    if (!form.reads())
      form.object("account", "every nanosecond of its window",
                  [&] { describe_account(form, account, known.knows_order); });
    form.optional("critical_path", rank.critical_path, AbsentValue::left_out,
                  [&](CriticalPath& path) { describe_critical_path(form, path); });
    describe_stages(form, rank.stages, "stages that ran", [&](std::string_view, StageStats& stats) {
      describe_stage(form, stats);
      describe_histogram(form, stats);
    });
    describe_queues(form, rank.queues, "queues by name");
  });
}

}  // namespace loaderscope
