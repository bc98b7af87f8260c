// Data that the folder keeps of a run, and the spans that it holds during the run.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "record/recorder.h"
#include "unit/account/oracle.h"
#include "unit/account/random_pipelines.h"

namespace loaderscope {
namespace {

// Statistics of a rank, added up from all facts: the spans and intervals of the batches of its
// window, and what belongs to no batch and ended in it.
class Recounted {
 public:
  Recounted(const FactKeeper::Rank& facts, const RankRecord& rank) {
    const bool whole_run = rank.warmup_steps == 0;
    const auto first = static_cast<std::size_t>(rank.warmup_steps);
    std::set<std::int64_t> batches;
    for (std::size_t k = first; k < facts.steps.size(); ++k) {
      count_step(facts.steps[k]);
      batches.insert(facts.steps[k].batch);
    }
    for (const auto& [worker, spans] : facts.workers) {
      for (const Span& span : spans) {
        const bool ended =
            span.end <= rank.window_end && (whole_run || span.end > rank.window_begin);
        if (span.batch < 0 ? ended : batches.contains(span.batch)) {
          count(span.stage, span.end - span.begin, span.cpu, span.queued, span.bytes);
        }
      }
    }
  }

  PerStage<StageStats> stages;
  std::int64_t samples = 0;
  Bytes read = 0, delivered = 0;

 private:
  void count(Stage stage, Nanos wall, Nanos cpu, Nanos queued, Bytes bytes) {
    stages[stage].add(wall, cpu, queued, bytes);
  }

  void count_step(const StepEvents& step) {
    samples += step.samples;
    read += step.read_bytes;
    delivered += step.delivered_bytes;
    for (const auto& [stage, interval] : {std::pair(Stage::transport, step.send),
                                          {Stage::transport_recv, step.receive},
                                          {Stage::pin, step.pin},
                                          {Stage::h2d, step.copy}}) {
      if (interval.ran())
        count(stage, interval.wall(), interval.cpu, interval.queued, step.delivered_bytes);
    }
    if (step.launch.ran())
      count(Stage::launch, step.launch.wall(), step.launch.cpu, step.launch.queued, 0);
    if (step.compute.wall() > 0) count(Stage::compute, step.compute.wall(), 0, 0, 0);
  }
};

TEST(RankFolder, KeepsStatisticsOfWindow) {
  for (std::int64_t i = 0; i < times(1500); ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const Pipeline pipeline = random_pipeline(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + pipeline.text());
    FactKeeper facts;
    const RunRecord record = run_pipeline(pipeline.config, &facts);
    for (std::size_t r = 0; r < record.ranks.size(); ++r) {
      const RankRecord& rank = record.ranks[r];
      const Recounted expected(facts.ranks.at(static_cast<std::int32_t>(r)), rank);
      ASSERT_EQ(rank.samples, expected.samples);
      ASSERT_EQ(rank.read_bytes, expected.read);
      ASSERT_EQ(rank.delivered_bytes, expected.delivered);
      ASSERT_EQ(rank.reservoir_seen, rank.samples);
      for (std::size_t s = 0; s < kStages; ++s) {
        const auto stage = static_cast<Stage>(s);
        // Spans without a batch are dropped once a rank is done before the others.
        const bool has_no_batch =
            stage == Stage::idle || stage == Stage::startup || stage == Stage::startup_parent;
        if (has_no_batch && record.ranks.size() > 1) continue;
        const StageStats &got = rank.stages[stage], &want = expected.stages[stage];
        const bool is_start = stage == Stage::startup || stage == Stage::startup_parent;
        if (is_start && want.count == 0) continue;  // starts in the warm-up
        ASSERT_EQ(got.count, want.count) << name_of(stage);
        ASSERT_EQ(got.wall, want.wall) << name_of(stage);
        ASSERT_EQ(got.cpu, want.cpu) << name_of(stage);
        ASSERT_EQ(got.queued, want.queued) << name_of(stage);
        ASSERT_EQ(got.bytes, want.bytes) << name_of(stage);
        ASSERT_EQ(got.wall_histogram.max(), want.wall_histogram.max()) << name_of(stage);
      }
    }
  }
}

// A loader made of a few lines: batch after batch, each by the next worker, `ahead` of the step
// that takes it.
struct PlainLoader {
  std::int64_t workers = 4;
  std::int64_t ahead = 64;
  std::int64_t samples = 3;      // per batch, of three spans each
  std::int64_t named_every = 1;  // one batch in this number names its samples

  void make(Folder& folder, std::int64_t batch) const {
    const auto worker = static_cast<std::int32_t>(batch % workers);
    Nanos at = batch / workers * period();
    for (std::int64_t i = 0; i < samples; ++i) {
      for (const Stage stage : {Stage::read, Stage::decode, Stage::augment}) {
        Span span;
        span.begin = at;
        span.end = at = at + 10;
        span.batch = batch;
        const std::int64_t sample = batch * samples + i;
        span.sample = batch % named_every == 0 ? sample : -1;
        span.bytes = sample + 1;
        // Each part of a sample says which sample it is of.
        span.cpu = sample % 7;
        span.queued = sample % 3;
        span.stage = stage;
        folder.span(0, worker, span);
      }
    }
    folder.deliverable(0, batch, finished(batch));
  }

  Nanos period() const { return samples * 30; }
  Nanos finished(std::int64_t batch) const { return (batch / workers + 1) * period(); }

  StepEvents step(std::int64_t index, std::int64_t batch, Nanos before) const {
    StepEvents events;
    events.step = index;
    events.batch = batch;
    events.worker = static_cast<std::int32_t>(batch % workers);
    events.samples = static_cast<std::int32_t>(samples);
    events.finished = events.deliverable = finished(batch);
    events.ask = before;
    events.take = events.ready = std::max(before, events.deliverable);
    // Slower than the loader: it is `ahead` all the time.
    events.compute = {events.take, events.take + period(), 0, 0};
    return events;
  }
};

// Runs `steps` steps and returns the most spans that were held at once.
std::int64_t run_steps(Folder& folder, const PlainLoader& loader, std::int64_t steps) {
  folder.first_ask(0, 0);
  std::int64_t made = 0, most = 0;
  Nanos end = 0;
  for (std::int64_t k = 0; k < steps; ++k) {
    while (made < k + loader.ahead) loader.make(folder, made++);
    const StepEvents step = loader.step(k, k, end);
    folder.step(0, step);
    end = step.compute.end;
    if (k % 100 == 0) most = std::max(most, folder.spans_held());
  }
  return most;
}

FoldOptions make_options(std::int32_t workers) {
  FoldOptions options;
  options.workers = workers;
  return options;
}

TEST(RankFolder, HoldsNoMoreThanTheWindow) {
  constexpr std::int64_t kSteps = times(1'000'000);
  FoldOptions options = make_options(4);
  options.step_row_memory = Bytes{4} << 20;
  Folder folder(options);
  const PlainLoader loader;
  const std::int64_t most = run_steps(folder, loader, kSteps);
  // Spans of the window count twice: for the batch and for the worker that a step may wait for.
  // Each worker also keeps some old spans until there are kMany.
  constexpr std::int64_t kWorkers = 4, kMany = 64;
  EXPECT_LE(most, 2 * (loader.ahead + 1) * 3 * loader.samples + kWorkers * kMany);
  const std::vector<RankRecord> ranks = folder.finish();
  EXPECT_EQ(ranks[0].rows.size(), kSteps);
  EXPECT_EQ(ranks[0].stages[Stage::decode].count, kSteps * loader.samples);
  EXPECT_GT(ranks[0].rows.spilled_bytes(), 0);
}

// One batch that is never delivered holds its own spans, and not those of everybody who ever worked
// on it.
TEST(RankFolder, HoldsOnlyOwnSpansOfLateBatch) {
  FoldOptions options = make_options(2);
  options.in_order = false;
  options.step_row_memory = Bytes{1} << 20;
  Folder folder(options);
  folder.first_ask(0, 0);
  std::int64_t most = 0;
  Nanos at = 0;
  for (std::int64_t k = 0; k < 100'000; ++k) {
    // Every worker has made one sample of batch 0; the rest of their work is for others.
    for (std::int32_t worker = 0; worker < 2; ++worker) {
      Span span;
      span.begin = at;
      span.end = at + 10;
      span.stage = Stage::decode;
      span.batch = k;
      span.sample = 2 * k + worker;
      folder.span(0, worker, span);
    }
    at += 10;
    if (k == 0) continue;
    StepEvents step;
    step.step = k - 1;
    step.batch = k;
    step.finished = step.deliverable = step.take = step.ready = at;
    step.compute = {at, at, 0, 0};
    folder.step(0, step);
    most = std::max(most, folder.spans_held());
  }
  EXPECT_LE(most, 8);
}

TEST(RankFolder, KeepsNothingOfClosedRank) {
  Folder folder(make_options(1));
  folder.first_ask(0, 0);
  Span span;
  span.end = 10;
  span.batch = 0;
  folder.span(0, 0, span);
  folder.close(0);
  for (Nanos at = 10; at < 1000; at += 10) {
    span.begin = at;
    span.end = at + 10;
    span.batch = at;
    folder.span(0, 0, span);
    folder.deliverable(0, at, at);
  }
  EXPECT_LE(folder.spans_held(), 2);
}

TEST(RankFolder, KeepsWholeRowsInReservoir) {
  FoldOptions options = make_options(4);
  options.reservoir_rows = 500;
  Folder folder(options);
  run_steps(folder, PlainLoader(), 3000);
  const std::vector<RankRecord> ranks = folder.finish();
  EXPECT_EQ(ranks[0].reservoir_seen, 9000);
  ASSERT_EQ(ranks[0].reservoir.size(), 500u);
  std::set<std::int64_t> samples;
  for (const SampleRow& row : ranks[0].reservoir) {
    EXPECT_TRUE(samples.insert(row.sample).second);
    EXPECT_EQ(row.batch, row.sample / 3);
    EXPECT_EQ(row.worker, row.batch % 4);
    EXPECT_EQ(row.bytes, row.sample + 1);
    for (std::size_t i = 0; i < kSampleStages.size(); ++i) {
      const bool has_stage =
          kSampleStages[i] != Stage::read_decompress && kSampleStages[i] != Stage::opaque;
      EXPECT_EQ(row.parts[i].wall, has_stage ? 10 : 0);
      EXPECT_EQ(row.parts[i].cpu, has_stage ? row.sample % 7 : 0);
      EXPECT_EQ(row.parts[i].queued, has_stage ? row.sample % 3 : 0);
    }
  }
}

// A data set that delivers whole batches, or workers that name the samples of their first batch
// only.
TEST(RankFolder, KeepsRowPerBatchIfFewSamplesAreKnown) {
  Folder folder(make_options(4));
  PlainLoader loader;
  loader.named_every = 10;
  run_steps(folder, loader, 100);
  const std::vector<RankRecord> ranks = folder.finish();
  EXPECT_EQ(ranks[0].reservoir_seen, 90);
  ASSERT_EQ(ranks[0].reservoir.size(), 90u);
  for (const SampleRow& row : ranks[0].reservoir) {
    EXPECT_TRUE(row.is_batch());
    EXPECT_EQ(row.samples(), 3);
    EXPECT_NE(row.batch % 10, 0);
    EXPECT_EQ(row.worker, row.batch % 4);
    EXPECT_EQ(row.bytes, 9 * row.batch + 6);  // sum of its three samples
    EXPECT_EQ(row.parts[0].wall, 30);
    EXPECT_EQ(row.parts[2].wall, 30);
  }
}

TEST(RankFolder, FillsReservoirFromWindow) {
  const Pipeline pipeline = resolve_pipeline({{"num-workers", "2"},
                                              {"batch-size", "2"},
                                              {"cost", "decode=10ms"},
                                              {"warmup", "5"},
                                              {"steps", "7"}});
  const RunRecord record = run_pipeline(pipeline.config);
  const RankRecord& rank = record.ranks[0];
  ASSERT_EQ(rank.reservoir.size(), 14u);
  for (const SampleRow& row : rank.reservoir) EXPECT_GE(row.batch, 5);

  RunConfig short_input = pipeline.config;
  short_input.data.samples.set(6);
  short_input.measure.epochs.set(1);
  const RunRecord warmup_only = run_pipeline(short_input);
  EXPECT_TRUE(warmup_only.input_ended_in_warmup);
  EXPECT_EQ(warmup_only.ranks[0].reservoir.size(), 6u);  // the whole run is the window
  EXPECT_EQ(warmup_only.ranks[0].samples, 6);
}

std::vector<RankRecord> with_exemplars(Bytes memory, std::int64_t steps) {
  FoldOptions options = make_options(4);
  options.exemplar_memory = memory;
  Folder folder(options);
  run_steps(folder, PlainLoader(), steps);
  return folder.finish();
}

TEST(RankFolder, KeepsFirstAndWorstStepsAsExemplars) {
  const Pipeline pipeline = resolve_pipeline({{"num-workers", "3"},
                                              {"batch-size", "2"},
                                              {"cost", "decode=lognormal:10ms:1"},
                                              {"compute", "5ms"},
                                              {"steps", "2000"}});
  const RunRecord record = run_pipeline(pipeline.config);
  const RankRecord& rank = record.ranks[0];
  const std::vector<StepRow> rows = collect_rows(rank);
  std::vector<Nanos> idle;
  for (const StepRow& row : rows) {
    if (row.step >= 200) idle.push_back(row.idle());
  }
  std::sort(idle.rbegin(), idle.rend());
  ASSERT_EQ(rank.exemplars.size(), 220u);
  for (std::size_t i = 0; i < rank.exemplars.size(); ++i) {
    const Exemplar& exemplar = rank.exemplars[i];
    EXPECT_EQ(exemplar.worst, i >= 200);
    EXPECT_EQ(exemplar.row.step, exemplar.events.step);
    EXPECT_EQ(exemplar.spans.size(), 2u);
    if (exemplar.worst) {
      EXPECT_GE(exemplar.row.idle(), idle[19]);
    } else {
      EXPECT_EQ(exemplar.row.step, static_cast<std::int64_t>(i));
    }
    for (const auto& [worker, span] : exemplar.spans) EXPECT_EQ(span.batch, exemplar.events.batch);
  }
}

TEST(RankFolder, LimitsMemoryOfExemplars) {
  const std::size_t spans_of_one = 9;
  const auto one =
      static_cast<Bytes>(sizeof(Exemplar) + spans_of_one * sizeof(std::pair<std::int32_t, Span>));
  for (const Bytes memory : {Bytes{0}, one, 20 * one, 100 * one, Bytes{32} << 20}) {
    const std::vector<RankRecord> ranks = with_exemplars(memory, 1000);
    Bytes held = 0;
    for (const Exemplar& exemplar : ranks[0].exemplars) {
      EXPECT_TRUE(exemplar.spans.empty() || exemplar.spans.size() == spans_of_one);
      held += static_cast<Bytes>(sizeof exemplar +
                                 exemplar.spans.capacity() * sizeof exemplar.spans[0]);
    }
    EXPECT_LE(held, memory);
  }
}

}  // namespace
}  // namespace loaderscope
