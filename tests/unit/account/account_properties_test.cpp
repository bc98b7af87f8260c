// Properties that the account of every pipeline must have. A failing case prints the scenario that
// reproduces it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "unit/account/random_pipelines.h"

namespace loaderscope {
namespace {

std::string place(std::uint64_t seed, const Pipeline& pipeline) {
  return "seed " + std::to_string(seed) + "\n" + pipeline.text();
}

// Calls `check` with random pipelines until one of them fails.
void for_random_pipelines(std::int64_t count, const PipelineLimits& limits,
                          const std::function<void(const Pipeline&)>& check) {
  for (std::int64_t i = 0; i < times(count); ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const Pipeline pipeline = random_pipeline(seed, limits);
    SCOPED_TRACE(place(seed, pipeline));
    check(pipeline);
    if (testing::Test::HasFailure()) return;
  }
}

struct Totals {
  Nanos window = 0, compute = 0;
  PerCause<Nanos> stall{};
  PerWhy<Nanos> why{};
  Nanos order = 0;

  Nanos stalled() const { return std::accumulate(stall.begin(), stall.end(), Nanos{0}); }
  bool operator==(const Totals&) const = default;
};

Totals window_totals(const RankRecord& rank) {
  Totals totals;
  totals.window = rank.window();
  rank.rows.for_each(
      [&](const StepRow& row) {
        totals.compute += row.compute();
        for (std::size_t i = 0; i < kCauses; ++i) totals.stall.at(i) += row.stall.at(i);
        for (std::size_t i = 0; i < kWhys; ++i) totals.why.at(i) += row.why.at(i);
        totals.order += row.order;
      },
      rank.warmup_steps);
  return totals;
}

void expect_row(const StepRow& row, Nanos previous_end) {
  EXPECT_EQ(row.idle_begin, previous_end);
  EXPECT_GE(row.compute_begin, row.idle_begin);
  EXPECT_GE(row.compute_end, row.compute_begin);
  EXPECT_EQ(std::accumulate(row.stall.begin(), row.stall.end(), Nanos{0}), row.idle());
  EXPECT_GE(*std::min_element(row.stall.begin(), row.stall.end()), 0);
  EXPECT_GE(*std::min_element(row.why.begin(), row.why.end()), 0);
  EXPECT_GE(row.order, 0);
  EXPECT_LE(row.order, row.idle());
  EXPECT_GE(row.waiting_for_ranks, 0);
  EXPECT_LE(row.waiting_for_ranks, row.idle());
  EXPECT_GE(row.not_asking, 0);
  EXPECT_LE(row.not_asking, row.stall[Cause::launch]);
  EXPECT_EQ(row.clamped, 0);
  EXPECT_EQ(row.stall[Cause::other], 0);
  EXPECT_EQ(row.stall[Cause::prefetch], 0);  // the model dispatches before any step can wait for it
}

void expect_closed(const RankRecord& rank, const RunConfig& config) {
  Nanos previous_end = rank.first_ask;
  std::int64_t step = 0;
  for (const StepRow& row : collect_rows(rank)) {
    EXPECT_EQ(row.step, step);
    EXPECT_EQ(row.warmup && rank.warmup_steps > 0, step < rank.warmup_steps);
    expect_row(row, previous_end);
    if (!config.loader.in_order) {
      EXPECT_EQ(row.order, config.loader.num_workers == 0 ? row.order : 0);
    }
    previous_end = row.compute_end;
    ++step;
  }
  EXPECT_EQ(rank.window_end, previous_end);
  const Totals totals = window_totals(rank);
  EXPECT_EQ(totals.compute + totals.stalled(), totals.window);
}

TEST(AccountProperties, ClosesInEveryRow) {
  for_random_pipelines(4000, {}, [](const Pipeline& pipeline) {
    for (const RankRecord& rank : run_pipeline(pipeline.config).ranks)
      expect_closed(rank, pipeline.config);
  });
}

bool can_take_time(const RunConfig& config, std::initializer_list<Stage> stages) {
  return std::any_of(stages.begin(), stages.end(), [&](Stage stage) {
    const auto& injections = config.declared.inject.value;
    return config.declared_cost(stage) != nullptr ||
           std::any_of(injections.begin(), injections.end(),
                       [stage](const Injection& injection) { return injection.stage == stage; });
  });
}

TEST(AccountProperties, BooksNoStallToStageWithoutCost) {
  for_random_pipelines(1500, {}, [](const Pipeline& pipeline) {
    const RunConfig& config = pipeline.config;
    for (const RankRecord& rank : run_pipeline(config).ranks) {
      const Totals totals = window_totals(rank);
      const auto expect_none = [&](Cause cause, std::initializer_list<Stage> stages) {
        if (!can_take_time(config, stages)) {
          EXPECT_EQ(totals.stall[cause], 0) << name_of(cause);
        }
      };
      if (!pipeline.has("storage-latency"))
        expect_none(Cause::read, {Stage::read, Stage::read_decompress});
      expect_none(Cause::decode, {Stage::decode});
      expect_none(Cause::augment, {Stage::augment});
      expect_none(Cause::collate, {Stage::collate});
      expect_none(Cause::opaque, {});
      expect_none(Cause::transport, {Stage::transport, Stage::transport_recv});
      // A batch may wait for the pin thread while that receives another one.
      expect_none(Cause::pin, {Stage::pin, Stage::transport_recv});
      if (config.loader.memory != MemoryMode::pin_thread) {
        EXPECT_EQ(totals.stall[Cause::pin], 0);
      }
      if (!config.trainer.link.given) expect_none(Cause::h2d, {Stage::h2d});
      // A rank may wait at the barrier for the compute of another rank.
      if (!config.trainer.sync_ranks) expect_none(Cause::launch, {Stage::launch});
      expect_none(Cause::startup, {Stage::startup, Stage::startup_parent});
      if (config.declared.cores == 100 && config.declared.core_scaling == 1) {
        EXPECT_EQ(totals.stall[Cause::contention], 0);
      }
      if (!can_take_time(config, {Stage::compute}) && !config.trainer.compute.given) {
        EXPECT_EQ(totals.compute, 0);
      }
    }
  });
}

// Each step's compute is at most once on the way that decides the length of the run.
TEST(AccountProperties, AddsNoStallForMoreCompute) {
  PipelineLimits limits;
  limits.own_cores = limits.own_storage = limits.no_merging = true;
  limits.batch_tasks = limits.in_order = limits.whole_run = true;
  limits.most_ranks = 1;
  for_random_pipelines(1000, limits, [](const Pipeline& pipeline) {
    if (pipeline.config.trainer.device.value == "null") return;
    Nanos before = window_totals(run_pipeline(pipeline.config).ranks[0]).stalled();
    for (const char* more : {"compute=+1ns", "compute=+37ns", "compute=+2ms", "compute=+11ms"}) {
      RunConfig slower = pipeline.config;
      slower.declared.inject.value.push_back(parse_injection(more));
      const Nanos stalled = window_totals(run_pipeline(slower).ranks[0]).stalled();
      ASSERT_LE(stalled, before) << more;
      before = stalled;
    }
  });
}

// One worker is slow and the others are equal. Its index shifts the steps and changes no total.
TEST(AccountProperties, KeepsTotalsWhicheverWorkerIsSlow) {
  Dice dice(1);
  const auto ms = [&](std::int64_t most) { return std::to_string(dice.between(1, most)) + "ms"; };
  for (int i = 0; i < times(100); ++i) {
    const std::int64_t workers = dice.between(2, 6), prefetch = dice.between(1, 3),
                       in_flight = dice.between(1, 3);
    const std::int64_t period = workers * prefetch * in_flight;
    std::vector<std::pair<std::string, std::string>> settings = {
        {"num-workers", std::to_string(workers)},
        {"prefetch-factor", std::to_string(prefetch)},
        {"in-flight", std::to_string(in_flight)},
        {"batch-size", "2"},
        {"compute", ms(20)},
        {"cost", "read=" + ms(9)},
        {"cost", "decode=" + ms(30)},
        {"cost", "h2d=" + ms(4)},
        {"copy", dice.pick<const char*>({"sync", "async", "stream"})},
        {"cores", "1000"},
        {"warmup", std::to_string(60 * period)},
        {"steps", std::to_string(4 * period)},
        {"inject", ""}};
    const std::string slow = "decode=+" + ms(40) + "@worker=";
    settings.back().second = slow + "0";
    const Pipeline first = resolve_pipeline(settings);
    const Totals expected = window_totals(run_pipeline(first.config).ranks[0]);
    for (std::int64_t worker = 1; worker < workers; ++worker) {
      settings.back().second = slow + std::to_string(worker);
      const Pipeline other = resolve_pipeline(settings);
      ASSERT_EQ(window_totals(run_pipeline(other.config).ranks[0]), expected) << other.text();
    }
  }
}

TEST(AccountProperties, ScalesWithAllTimes) {
  PipelineLimits limits;
  limits.own_cores = limits.own_storage = limits.constant = true;
  for_random_pipelines(700, limits, [](const Pipeline& pipeline) {
    const RunRecord base = run_pipeline(pipeline.config);
    for (const std::int64_t factor : {2, 7, 1000}) {
      const RunRecord scaled = run_pipeline(slowed_down(pipeline.config, factor));
      for (std::size_t rank = 0; rank < base.ranks.size(); ++rank) {
        Totals expected = window_totals(base.ranks[rank]);
        for (Nanos* ns : {&expected.window, &expected.compute, &expected.order}) *ns *= factor;
        for (Nanos& ns : expected.stall) ns *= factor;
        for (Nanos& ns : expected.why) ns *= factor;
        ASSERT_EQ(window_totals(scaled.ranks[rank]), expected) << "factor " << factor;
      }
    }
  });
}

// The model rounds every end on shared cores to a whole ns.
TEST(AccountProperties, ScalesWithAllTimesOnSharedCores) {
  PipelineLimits limits;
  limits.own_storage = limits.constant = limits.no_merging = limits.batch_tasks = limits.in_order =
      true;
  for_random_pipelines(700, limits, [](const Pipeline& pipeline) {
    constexpr std::int64_t kFactor = 1000;
    FactKeeper facts;
    const RunRecord base = run_pipeline(pipeline.config, &facts);
    const RunRecord scaled = run_pipeline(slowed_down(pipeline.config, kFactor));
    Nanos works = 0;  // each of them rounded, and with it the account of a few steps
    for (const auto& [index, rank] : facts.ranks) {
      works += 8 * std::ssize(rank.steps);
      for (const auto& [worker, spans] : rank.workers) works += std::ssize(spans);
    }
    for (std::size_t rank = 0; rank < base.ranks.size(); ++rank) {
      const Totals expected = window_totals(base.ranks[rank]),
                   got = window_totals(scaled.ranks[rank]);
      ASSERT_EQ(got.compute, expected.compute * kFactor);
      ASSERT_NEAR(static_cast<double>(got.window) / kFactor, static_cast<double>(expected.window),
                  static_cast<double>(4 * works));
      for (std::size_t i = 0; i < kCauses; ++i) {
        ASSERT_NEAR(static_cast<double>(got.stall.at(i)) / kFactor,
                    static_cast<double>(expected.stall.at(i)), static_cast<double>(4 * works))
            << name_of(static_cast<Cause>(i));
      }
    }
  });
}

TEST(AccountProperties, KeepsRowsWhenConstantCostsAreShuffled) {
  PipelineLimits limits;
  limits.constant = limits.no_injections = true;
  for_random_pipelines(700, limits, [](const Pipeline& pipeline) {
    RunConfig other = pipeline.config;
    other.loader.shuffle.set(!other.loader.shuffle);
    const RunRecord a = run_pipeline(pipeline.config), b = run_pipeline(other);
    for (std::size_t rank = 0; rank < a.ranks.size(); ++rank) {
      ASSERT_EQ(collect_rows(a.ranks[rank]), collect_rows(b.ranks[rank])) << "rank " << rank;
    }
  });
}

// Ranks that share nothing and do the same are the same, with a barrier or without.
TEST(AccountProperties, GivesEqualRowsToEqualRanks) {
  PipelineLimits limits;
  limits.constant = limits.no_injections = limits.own_cores = limits.own_storage = true;
  for_random_pipelines(700, limits, [](const Pipeline& pipeline) {
    const RunRecord record = run_pipeline(pipeline.config);
    for (const RankRecord& rank : record.ranks) {
      ASSERT_EQ(collect_rows(rank), collect_rows(record.ranks[0]));
      ASSERT_EQ(rank.samples, record.ranks[0].samples);
    }
  });
}

bool same_stats(const StageStats& a, const StageStats& b) {
  return a.count == b.count && a.wall == b.wall && a.cpu == b.cpu && a.queued == b.queued &&
         a.bytes == b.bytes && a.wall_histogram.buckets() == b.wall_histogram.buckets();
}

TEST(AccountProperties, RepeatsRecordForSameSeed) {
  for_random_pipelines(700, {}, [](const Pipeline& pipeline) {
    const RunRecord first = run_pipeline(pipeline.config), second = run_pipeline(pipeline.config);
    for (std::size_t i = 0; i < first.ranks.size(); ++i) {
      const RankRecord &a = first.ranks[i], &b = second.ranks[i];
      ASSERT_EQ(collect_rows(a), collect_rows(b));
      ASSERT_TRUE(std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), same_stats));
      ASSERT_EQ(a.reservoir, b.reservoir);
      ASSERT_EQ(a.exemplars, b.exemplars);
      ASSERT_EQ(a.queues[0].mean_occupancy, b.queues[0].mean_occupancy);
      ASSERT_EQ(a.queues[0].get_wait, b.queues[0].get_wait);
    }
  });
}

// Wall time in ns of each sample of each epoch, by stage.
using Costs = std::map<std::tuple<std::int32_t, std::int64_t, Stage>, Nanos>;

Costs sample_costs(const FactKeeper& facts) {
  Costs costs;
  for (const auto& [index, rank] : facts.ranks) {
    std::map<std::int64_t, std::int32_t> epochs;
    for (const StepEvents& step : rank.steps) epochs[step.batch] = step.epoch;
    for (const auto& [worker, spans] : rank.workers) {
      for (const Span& span : spans) {
        const auto epoch = epochs.find(span.batch);
        if (epoch == epochs.end() || span.sample < 0) continue;
        costs[{epoch->second, span.sample, span.stage}] = span.end - span.begin;
      }
    }
  }
  return costs;
}

TEST(AccountProperties, KeepsSampleCostsForAnyLoader) {
  std::int64_t compared = 0;
  PipelineLimits limits;
  limits.own_cores = limits.own_storage = limits.no_injections = true;
  for_random_pipelines(400, limits, [&](const Pipeline& pipeline) {
    RunConfig other = pipeline.config;
    if (other.loader.num_workers == 0) return;
    other.loader.num_workers.value += 3;
    other.loader.in_order.value = !other.loader.in_order;
    other.loader.task.value =
        other.loader.task == TaskShape::batch ? TaskShape::sample : TaskShape::batch;
    other.loader.prefetch_depth.value = 5;
    other.loader.batch_size.value = 1;
    other.trainer.ranks.value = 1;
    other.loader.shuffle.value = !other.loader.shuffle;
    other.loader.drop_last.value = false;
    other.measure.steps.value = 60;
    other.measure.duration.given = false;
    FactKeeper facts, other_facts;
    run_pipeline(pipeline.config, &facts);
    run_pipeline(other, &other_facts);
    const Costs costs = sample_costs(facts);
    for (const auto& [sample, ns] : sample_costs(other_facts)) {
      const auto same = costs.find(sample);
      if (same == costs.end()) continue;
      ++compared;
      ASSERT_EQ(same->second, ns) << "epoch " << std::get<0>(sample) << " sample "
                                  << std::get<1>(sample) << " " << name_of(std::get<2>(sample));
    }
  });
  EXPECT_GT(compared, times(5000));
}

// Deliveries of a run by epoch: the number of times of each sample, and the batches of all ranks.
struct Delivered {
  std::map<std::int32_t, std::map<std::int64_t, std::int64_t>> samples;
  std::map<std::int32_t, std::int64_t> batches;
};

Delivered count_deliveries(const FactKeeper& facts) {
  Delivered delivered;
  for (const auto& [index, rank] : facts.ranks) {
    std::map<std::int64_t, const StepEvents*> steps;
    for (const StepEvents& step : rank.steps) {
      EXPECT_TRUE(steps.emplace(step.batch, &step).second)
          << "batch " << step.batch << " was delivered twice";
      ++delivered.batches[step.epoch];
    }
    std::map<std::int64_t, std::int64_t> decoded;  // samples decoded per batch
    for (const auto& [worker, spans] : rank.workers) {
      for (const Span& span : spans) {
        const auto step = steps.find(span.batch);
        if (span.stage != Stage::decode || step == steps.end()) continue;
        ++delivered.samples[step->second->epoch][span.sample];
        ++decoded[span.batch];
      }
    }
    for (const auto& [batch, step] : steps) EXPECT_EQ(decoded[batch], step->samples);
  }
  return delivered;
}

TEST(AccountProperties, DeliversEachSampleOncePerEpoch) {
  for_random_pipelines(1500, {}, [](const Pipeline& pipeline) {
    const RunConfig& config = pipeline.config;
    FactKeeper facts;
    run_pipeline(config, &facts);
    const Delivered delivered = count_deliveries(facts);
    const std::int64_t rank_samples =
        (config.data.samples + config.trainer.ranks - 1) / config.trainer.ranks;
    const std::int64_t dropped =
        config.loader.drop_last ? rank_samples % config.loader.batch_size : 0;
    const std::int64_t total = (rank_samples - dropped) * config.trainer.ranks;
    const std::int64_t padding = rank_samples * config.trainer.ranks - config.data.samples;
    const std::int64_t batches = (rank_samples - dropped + config.loader.batch_size - 1) /
                                 config.loader.batch_size * config.trainer.ranks;
    for (const auto& [epoch, samples] : delivered.samples) {
      const auto most =
          std::max_element(samples.begin(), samples.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (config.data.samples == 0) {
        EXPECT_EQ(most->second, 1) << "sample " << most->first;
        continue;
      }
      EXPECT_GE(samples.begin()->first, 0);
      EXPECT_LT(samples.rbegin()->first, config.data.samples);
      EXPECT_LE(most->second, padding > 0 ? 2 : 1) << "sample " << most->first;
      if (delivered.batches.at(epoch) < batches) continue;  // the window ended inside this epoch
      const std::int64_t distinct = std::ssize(samples);
      const std::int64_t count =
          std::accumulate(samples.begin(), samples.end(), std::int64_t{0},
                          [](std::int64_t sum, const auto& s) { return sum + s.second; });
      EXPECT_EQ(count, total);
      EXPECT_GE(distinct, total - padding);
      if (!config.loader.drop_last) {
        EXPECT_EQ(distinct, config.data.samples);
      }
    }
  });
}

}  // namespace
}  // namespace loaderscope
