#include "guest/host/job_record.h"

#include <fmt/format.h>

#include "record/rank_waits.h"

namespace loaderscope::guest {
namespace {

// Takes the account from the GPU if steps with the GPU's own times cover nearly the whole window.
void say_gpu(RunRecord& record, const std::vector<LoaderHistory*>& histories) {
  std::int64_t steps = 0, of_gpu = 0, late = 0;
  Nanos copied = 0, all = 0, seen = 0;
  Bytes bytes = 0;
  bool watched = false;
  for (const LoaderHistory* history : histories) {
    steps += history->window().steps();
    of_gpu += history->window().steps_of_gpu();
    all += history->window().time_of_steps();
    seen += history->window().time_of_gpu_steps();
    const GpuTimeline* gpu = history->gpu();
    if (gpu == nullptr) continue;
    watched = true;
    late += gpu->late();
    copied += gpu->copied();
    bytes += gpu->copied_bytes();
  }
  if (!watched) return;
  constexpr double kAllBut = 0.99;  // share of the window
  const double share = all > 0 ? seconds(seen) / seconds(all) : 0;
  if (share >= kAllBut) record.config.trainer.device.value = "cuda";
  record.metrics.push_back(
      make_metric(metric::gpu_seen_share,
                  "of the window, in steps whose compute is the time in which kernels "
                  "ran; in the others it is what the host saw",
                  share));
  record.notes.push_back(
      fmt::format("compute is the time in which kernels ran, by CUPTI, in {} of {} steps{}", of_gpu,
                  steps, of_gpu < steps ? "; in the others it is what the host saw" : ""));
  if (late > 0)
    record.notes.push_back(fmt::format("{} kernels or copies came too late to be counted", late));
  record.metrics.push_back(make_metric(
      metric::gpu_h2d_s, "copies from the host to the GPUs that were seen, before the window too",
      seconds(copied)));
  record.metrics.push_back(
      make_metric(metric::gpu_h2d_bytes, "that these copies had", static_cast<double>(bytes)));
}

std::vector<Metric> held_by_processes(const RunRecord& record, const JobMemory& memory) {
  Nanos window = 0;
  double batches = 0;
  for (const RankRecord& rank : record.ranks) {
    window = std::max(window, rank.window());
    batches += static_cast<double>(rank.steps());
  }
  return memory.metrics(batches, seconds(window));
}

double mean_of(const std::vector<LoaderHistory*>& histories, Nanos (LoaderHistory::*part)() const) {
  double sum = 0;
  for (const LoaderHistory* history : histories) sum += seconds((history->*part)());
  return histories.empty() ? 0 : sum / static_cast<double>(histories.size());
}

// Adds the metrics of batches whose memory is passed between processes by descriptors.
void say_answers(RunRecord& record, const std::vector<LoaderHistory*>& histories) {
  LoaderHistory::Answers all;
  for (const LoaderHistory* history : histories) {
    all.batches += history->answers().batches;
    all.descriptors += history->answers().descriptors;
    all.waited += history->answers().waited;
    all.kept += history->answers().kept;
  }
  if (all.batches == 0 || all.descriptors == 0) return;
  const auto batches = static_cast<double>(all.batches);
  record.metrics.push_back(
      make_metric(metric::transport_descriptors,
                  "of memory that a batch is in: the trainer asks its worker for each",
                  static_cast<double>(all.descriptors) / batches));
  record.metrics.push_back(make_metric(metric::transport_descriptors_s,
                                       "that it waits for them, for a batch",
                                       seconds(all.waited) / batches));
  record.metrics.push_back(
      make_metric(metric::transport_busy_worker_s,
                  "of it, for a worker that has Python's lock and keeps making batches",
                  seconds(all.kept) / batches));
}

void say_turns(RunRecord& record, const std::vector<LoaderHistory*>& histories) {
  WorkerTurns all;
  for (const LoaderHistory* history : histories) all.merge(history->window().turns());
  if (all.batches() == 0) return;
  record.metrics.push_back(
      make_metric(metric::transport_turn_s,
                  "from when a worker is free and has its next task, until it begins it",
                  seconds(all.time()) / static_cast<double>(all.batches())));
}

// A program's collectives are a part of what is seen as its compute.
void say_rank_waits(RunRecord& record) {
  if (!book_rank_waits(record.ranks)) return;
  record.config.trainer.sync_ranks.value = true;
  record.notes.push_back(
      "the ranks end their steps together: what a rank waited in them for the last one to begin is "
      "no compute, but what that one waited for" +
      describe_unbooked_waits(record.ranks));
}

// Adds the discarded batches of the first rank, whose first batch is reported.
void say_thrown_away(RunRecord& record, const LoaderHistory::SkippedPrefix& skip) {
  if (skip.batches == 0) return;
  for (const auto& word : Words<Cause>::table())
    if (const Nanos part = skip.first[word.value]; part > 0)
      record.before_first_ask.emplace_back(word.name, part);
  record.before_first_ask.emplace_back("skip", skip.others);
  record.metrics.push_back(make_metric(
      metric::skip_batches, "made and thrown away before the first that was trained with",
      static_cast<double>(skip.batches)));
  record.metrics.push_back(make_metric(metric::skip_s, "that they took", seconds(skip.others)));
}

// Adds the metrics of the loader's work besides making batches.
void say_loaders_work(RunRecord& record, const std::vector<LoaderHistory*>& histories) {
  const std::int64_t shards = histories.empty() ? 0 : histories.front()->loader().shards;
  if (shards > 0)
    record.metrics.push_back(make_metric(
        metric::data_shards, "of the streamed data set of a rank: more workers read nothing",
        static_cast<double>(shards)));
  say_answers(record, histories);
  say_turns(record, histories);
  SendStats send_stats;
  for (const LoaderHistory* history : histories) send_stats.add(history->send_stats());
  move_to(record.metrics, send_stats.metrics());
  if (const double chosen = mean_of(histories, &LoaderHistory::chosen_in); chosen > 0)
    record.metrics.push_back(
        make_metric(metric::sampler_s,
                    "of the trainer's thread in the sampler, to choose the samples of a "
                    "batch",
                    chosen));
  if (const double wrapped = mean_of(histories, &LoaderHistory::wrapped_in); wrapped > 0)
    record.metrics.push_back(
        make_metric(metric::wrapper_s,
                    "of the trainer's thread in what gives the loader's batches on, for a "
                    "batch",
                    wrapped));
}

double samples_of_batch(const RunRecord& record) {
  double samples = 0, steps = 0;
  for (const RankRecord& rank : record.ranks) {
    samples += static_cast<double>(rank.samples);
    steps += static_cast<double>(rank.steps());
  }
  return steps > 0 ? samples / steps : 0;
}

ProgramFacts program_of(const LoaderHistory* measured, const Messages& messages) {
  ProgramFacts program;
  program.uses_gpu = messages.uses_gpu();
  if (measured == nullptr) return program;
  program.made_by = measured->loader().made_by;
  program.data_of = measured->loader().data_of;
  return program;
}

}  // namespace

void add_ranks(RunRecord& record, const std::vector<LoaderHistory*>& histories, Nanos started) {
  for (LoaderHistory* history : histories) {
    if (record.ranks.empty()) {
      apply_loader_settings(record.config, history->loader(),
                            static_cast<std::int64_t>(histories.size()));
      record.before_first_ask.emplace_back("script", history->first_ask() - started);
      say_thrown_away(record, history->thrown_away());
    }
    record.input_ended_in_warmup |= history->window().input_ended_in_warmup();
    record.ranks.push_back(history->finish());
  }
  say_rank_waits(record);
  say_loaders_work(record, histories);
  if (!record.ranks.empty())
    apply_measured_settings(record.config, record.ranks.front(), histories.front()->loader());
  say_gpu(record, histories);
}

void add_metrics(RunRecord& record, const LoaderHistory* measured, const Messages& messages,
                 const ProcessWatch& watch, const JobMemory& memory) {
  record.program = program_of(measured, messages);
  DataFaults faults = messages.faults(measured);
  move_to(record.metrics, std::move(faults.metrics));
  const std::int64_t batches =
      measured == nullptr ? 0 : measured->taken() * std::ssize(record.ranks);
  move_to(record.metrics,
          messages.counters().metrics({static_cast<double>(batches), samples_of_batch(record)}));
  move_to(record.metrics, watch.metrics());
  move_to(record.metrics, held_by_processes(record, memory));
  move_to(record.details, std::move(faults.details));
  move_to(record.details, messages.counters().details());
  move_to(record.notes, watch.notes());
  move_to(record.notes, messages.notes());
}

}  // namespace loaderscope::guest
