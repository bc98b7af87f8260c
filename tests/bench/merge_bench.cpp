// Records of a large job folded into one, and its report. The promise: 10,000 ranks of 1,250 hosts
// with 1,000 steps each in at most 2 GB and 2 minutes.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <chrono>
#include <numeric>
#include <random>
#include <sstream>
#include <string>

#include "loaderscope/predict.h"
#include "loaderscope/report.h"
#include "record/merge_records.h"
#include "report/results.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kRanksOfHost = 8, kSteps = 1'000, kSamples = 64, kReservoir = 1'000;

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

RankRecord make_rank(std::mt19937_64& random, bool is_slow) {
  std::lognormal_distribution<double> spread(0, 0.3);
  RankRecord rank;
  rank.first_ask = rank.window_begin = rank.window_end = 1 + static_cast<Nanos>(random() >> 8);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    StepRow row;
    row.step = step;
    row.samples = kSamples;
    row.idle_begin = row.ask = rank.window_end;
    row.stall[Cause::decode] = static_cast<Nanos>(10e6 * spread(random)) * (is_slow ? 2 : 1);
    row.stall[Cause::read] = static_cast<Nanos>(2e6 * spread(random));
    row.waiting_for_ranks = is_slow ? 0 : row.stall[Cause::decode] / 2;
    row.compute_begin = row.deliverable = row.take = row.copy_begin = row.copy_end =
        row.idle_begin + row.stall[Cause::decode] + row.stall[Cause::read];
    row.compute_end = rank.window_end = row.compute_begin + 100 * kMillisecond;
    rank.rows.push_back(row);
  }
  for (const Stage stage :
       {Stage::read, Stage::decode, Stage::augment, Stage::collate, Stage::h2d, Stage::compute})
    for (int i = 0; i < 2'000; ++i)
      rank.stages[stage].add(static_cast<Nanos>(5e6 * spread(random)), 1'000'000, 0, 110'000);
  for (std::int64_t i = 0; i < kReservoir; ++i) {
    SampleRow row;
    row.sample = static_cast<std::int64_t>(random() >> 16);
    row.parts[2] = {5 * kMillisecond, 5 * kMillisecond, 0};
    rank.reservoir.push_back(row);
  }
  rank.reservoir_seen = rank.samples = kSteps * kSamples;
  rank.read_bytes = rank.samples * 110'000;
  return rank;
}

RunRecord make_host_record(std::int64_t host) {
  std::mt19937_64 random(static_cast<std::uint64_t>(host));
  RunRecord record;
  record.engine = "torch";
  record.tool_version = "bench";
  record.machine = {"CPU", "Debian 12", "6.1.0", 112, 112, Bytes{1} << 40};
  record.machine.host = "node" + std::to_string(host);
  record.config.loader.num_workers.value = 8;
  record.config.trainer.compute.value.mean = 100e6;
  record.config.trainer.sync_ranks.value = true;
  for (int i = 0; i < 40; ++i)
    record.metrics.push_back({"process.number_" + std::to_string(i), "s",
                              "a number that the processes of a host have", 1.0 * i});
  for (std::int64_t rank = 0; rank < kRanksOfHost; ++rank)
    record.ranks.push_back(make_rank(random, host == 777));
  return record;
}

void BM_MergeAndReport(benchmark::State& state) {
  for (auto _ : state) {
    double merging = 0;
    RecordMerge merge({});
    for (std::int64_t host = 0; host < state.range(0); ++host) {
      RunRecord part = make_host_record(host);
      const auto begin = std::chrono::steady_clock::now();
      merge.add(std::move(part), "node" + std::to_string(host));
      merging += since(begin);
    }
    auto begin = std::chrono::steady_clock::now();
    const RunRecord record = merge.take();
    state.counters["fold_s"] = merging + since(begin);
    state.counters["fold_peak_bytes"] = peak_bytes();
    begin = std::chrono::steady_clock::now();
    Analysis analysis = analyse(record);
    add_findings(analysis, record);
    const AnyResult result = make_result(record, analysis);
    std::ostringstream table, page;
    write_table(table, result, ReportStyle{});
    state.counters["report_s"] = since(begin);
    begin = std::chrono::steady_clock::now();
    find_row("html", report_table()).write(page, result, ReportStyle{});
    state.counters["page_s"] = since(begin);
    state.counters["page_bytes"] = static_cast<double>(page.str().size());
    state.counters["peak_bytes"] = peak_bytes();
    state.SetLabel(table.str().substr(0, table.str().find('\n')));
  }
}
BENCHMARK(BM_MergeAndReport)->Arg(12)->Arg(125)->Arg(1250)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace loaderscope
