#include "guest/host/job_record.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <utility>

#include "base/thread_meter.h"
#include "machine/source_file.h"
#include "record/config_facts.h"
#include "record/rank_waits.h"

namespace loaderscope::guest {
namespace {

// Takes the account from the GPU if steps with the GPU's own times cover nearly the whole window.
void say_gpu(RunRecord& record, const std::vector<LoaderHistory*>& histories) {
  std::int64_t steps = 0, gpu_steps = 0, late = 0;
  Nanos copied = 0, all = 0, seen = 0;
  Bytes bytes = 0;
  bool watched = false;
  for (const LoaderHistory* history : histories) {
    steps += history->window().steps();
    gpu_steps += history->window().steps_of_gpu();
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
  record.notes.push_back(fmt::format(
      "compute is the time in which kernels ran, by CUPTI, in {} of {} steps{}", gpu_steps, steps,
      gpu_steps < steps ? "; in the others it is what the host saw" : ""));
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

double mean_seconds(const std::vector<LoaderHistory*>& histories,
                    Nanos (LoaderHistory::*part)() const) {
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
  if (const double chosen = mean_seconds(histories, &LoaderHistory::mean_choosing); chosen > 0)
    record.metrics.push_back(
        make_metric(metric::sampler_s,
                    "of the trainer's thread in the sampler, to choose the samples of a "
                    "batch",
                    chosen));
  if (const double wrapped = mean_seconds(histories, &LoaderHistory::mean_wrapping); wrapped > 0)
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

// Adds the digest of the file, unless the program may have run another version of it.
LoaderCall with_digest(LoaderCall call, Nanos run_time) {
  const std::optional<SourceFile> source = read_source_file(call.file);
  const Nanos now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
  if (source && source->changed <= now - run_time) call.digest = source_digest(source->content);
  return call;
}

ProgramFacts program_facts(const LoaderHistory* measured, const Messages& messages,
                           Nanos run_time) {
  ProgramFacts program;
  program.uses_gpu = messages.uses_gpu();
  if (measured == nullptr) return program;
  program.made_by = measured->loader().made_by;
  program.data_of = measured->loader().data_of;
  if (const LoaderCall& call = measured->loader().call; !call.file.empty() && call.line > 0)
    program.loader_call = with_digest(call, run_time);
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
                 const ProcessWatch& watch, const JobMemory& memory, Nanos started) {
  record.program = program_facts(measured, messages, monotonic_now() - started);
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

// The settings that a measured program turned out to have.

void apply_loader_settings(RunConfig& config, const LoaderFacts& loader, std::int64_t ranks) {
  const bool has_workers = loader.num_workers > 0;
  config.loader.executor.value = loader.is_opaque ? Executor::opaque
                                 : has_workers    ? Executor::processes
                                                  : Executor::inline_;
  config.loader.num_workers.value = loader.num_workers;
  if (has_workers && loader.prefetch_factor > 0)
    config.loader.prefetch_factor.value = loader.prefetch_factor;
  config.loader.batch_size.value = std::max<std::int64_t>(1, loader.batch_size);
  config.data.samples.value = loader.samples * ranks;
  config.loader.memory.value = loader.pin_memory ? MemoryMode::pin_thread : MemoryMode::pageable;
  config.loader.persistent_workers.value = loader.persistent_workers;
  config.loader.in_order.value = loader.in_order;
  config.loader.drop_last.value = loader.drop_last;
  config.loader.shuffle.value = loader.shuffle;
  config.loader.mp_context.value =
      value_of<StartMethod>(loader.mp_context).value_or(StartMethod::fork);
  config.trainer.ranks.value = ranks;
}

void apply_measured_settings(RunConfig& config, const RankRecord& rank, const LoaderFacts& loader) {
  if (rank.samples > 0 && rank.steps() > 0) {
    const double per_batch = static_cast<double>(rank.samples) / static_cast<double>(rank.steps());
    // The last batch of an epoch may be short, so the others have more samples than the mean.
    const double size = loader.batches > 0 ? std::ceil(per_batch) : per_batch;
    if (loader.batch_size == 0) config.loader.batch_size.value = std::llround(std::max(1.0, size));
    if (loader.batches > 0) {
      config.data.samples.value = std::llround(per_batch * static_cast<double>(loader.batches)) *
                                  static_cast<std::int64_t>(config.trainer.ranks.value);
    }
  }
  if (rank.samples > 0) {
    config.data.delivered_bytes.value = rank.delivered_bytes / rank.samples;
    config.data.stored_bytes.value.mean =
        static_cast<double>(rank.read_bytes) / static_cast<double>(rank.samples);
  }
  const StageStats& compute = rank.stages[Stage::compute];
  if (trains_itself(config) && compute.count > 0)
    config.trainer.compute.value.mean = static_cast<double>(compute.wall / compute.count);
}

// Choice of the measured loader of a program, and the uses of its other loaders.

namespace {

// Returns the time from the first request to the last batch.
Nanos total_span(const std::vector<const LoaderHistory*>& loaders) {
  Nanos begin = kNever, end = 0;
  for (const LoaderHistory* loader : loaders) {
    begin = std::min(begin, loader->first_ask());
    end = std::max(end, loader->last_taken());
  }
  return std::max<Nanos>(end - begin, 1);
}

// "Photos (train.py:12)"
std::string loader_to_text(const LoaderFacts& loader) {
  const auto folder = loader.place.rfind('/');
  return fmt::format("{} ({})", loader.dataset,
                     folder == loader.place.npos ? loader.place : loader.place.substr(folder + 1));
}

LoaderUse loader_use(const LoaderHistory& history, Nanos span) {
  const auto share = [&](Nanos part) {
    return std::clamp(static_cast<double>(part) / static_cast<double>(span), 0.0, 1.0);
  };
  LoaderUse use;
  use.dataset = history.loader().dataset;
  use.place = history.loader().place;
  use.with_gradients = history.with_gradients();
  use.iterations = history.iterations();
  use.batches = history.taken();
  use.waited = share(history.time().waited());
  use.looped = share(history.time().looped());
  return use;
}

// Names the loaders that the trainer waits for between a batch and its compute.
void name_others(RunRecord& record, const LoaderHistory& measured,
                 const std::vector<const LoaderHistory*>& used) {
  double all = 0;
  for (const auto& [number, waited] : measured.waited_for_others())
    all += static_cast<double>(waited);
  std::vector<Detail> details;
  for (const LoaderHistory* one : used) {
    const auto waited = measured.waited_for_others().find(one->loader().number);
    if (waited == measured.waited_for_others().end()) continue;
    details.push_back({std::string(name_of(Stage::launch)), loader_to_text(one->loader()),
                       static_cast<double>(waited->second) / all});
  }
  std::stable_sort(details.begin(), details.end(),
                   [](const Detail& a, const Detail& b) { return a.share > b.share; });
  move_to(record.details, std::move(details));
}

}  // namespace

void note_measured_loader(RunRecord& record, const TrainingProcesses& training) {
  const LoaderHistory* history = training.first_measured();
  if (history == nullptr) return;
  const LoaderFacts& loader = history->loader();
  record.notes.push_back(loader.is_opaque
                             ? fmt::format("measured is the {} of {}", loader.dataset, loader.place)
                             : fmt::format("measured is the DataLoader of {}, made at {}",
                                           loader.dataset, loader.place));
  const auto used = training.first_used_loaders();
  if (used.size() < 2) return;
  const Nanos span = total_span(used);
  for (const LoaderHistory* one : used) {
    record.loaders.push_back(loader_use(*one, span));
    record.loaders.back().measured = one == history;
  }
  name_others(record, *history, used);
}

}  // namespace loaderscope::guest
