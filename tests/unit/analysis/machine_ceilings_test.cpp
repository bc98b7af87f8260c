// Shares of the probed rates that a run reached: 160 samples/s of 110 kB, by 4 cores.
#include "analysis/machine_ceilings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

// 4 x 80 decodes are 320 samples/s; 22 MB/s are 200, and 963 MB/s of batches 1600.
constexpr ProbedRates kProbed{80, 105e3, 22e6, 1600 * 602'112.0, 0};

RunRecord real_record() {
  RunRecord record = test::full_record();
  record.engine = "native";
  record.metrics.push_back({"process.storage_read_bytes", "bytes", "read", 640 * 110e3});
  return record;
}

auto named(std::string_view name, double most, double reached) {
  return ::testing::AllOf(Field(&MachineCeiling::name, name),
                          Field(&MachineCeiling::samples_per_s, ::testing::DoubleNear(most, 1e-6)),
                          Field(&MachineCeiling::reached, ::testing::DoubleNear(reached, 1e-9)));
}

TEST(ProbedCeilings, ReportsSharesOfProbedRates) {
  RunRecord record = real_record();
  EXPECT_THAT(machine_ceilings(record), IsEmpty());
  add_probed_rates(kProbed, record);
  EXPECT_EQ(probed_rates(record), kProbed);
  const auto ceilings = machine_ceilings(record);
  EXPECT_THAT(ceilings, ElementsAre(named("decoding", 320, 0.5), named("storage", 200, 0.8),
                                    named("copying", 1600, 0.1)));
  EXPECT_EQ(ceilings[1].what, "storage at 22.0 MB/s, as probe measured");
  EXPECT_EQ(probed_words(ceilings),
            "storage at 80.0 % of what probe measured, decoding at 50.0 %, copying at 10.0 %");
}

TEST(ProbedCeilings, SumsRatesOfAllHosts) {
  RunRecord record = real_record();
  add_probed_rates(kProbed, record);
  for (int i = 0; i < 4; ++i) {
    record.hosts.emplace_back();
    record.hosts.back().machine.cores = 4;
  }
  const auto ceilings = machine_ceilings(record);
  EXPECT_THAT(ceilings, ElementsAre(named("decoding", 1280, 0.125), named("storage", 800, 0.2),
                                    named("copying", 6400, 0.025)));
  EXPECT_EQ(ceilings[1].what, "storage at 4 x 22.0 MB/s, as probe measured");
}

TEST(ProbedCeilings, LeavesAccountUnchanged) {
  RunRecord with = real_record();
  const RunRecord without = real_record();
  add_probed_rates(kProbed, with);
  const Analysis here = analyse(with), there = analyse(without);
  EXPECT_EQ(here.account.compute, there.account.compute);
  EXPECT_EQ(here.account.stall, there.account.stall);
  EXPECT_EQ(here.verdict.sentence, there.verdict.sentence);
}

TEST(ProbedCeilings, SkipsDecodingOfOtherImageSize) {
  RunRecord record = real_record();
  add_probed_rates({.decodes_per_core_s = 80, .decoded_bytes = 300e3}, record);
  EXPECT_THAT(machine_ceilings(record), IsEmpty());
}

TEST(ProbedCeilings, SkipsStorageForReadsFromPageCache) {
  RunRecord record = real_record();
  record.metrics.back().value = 512;
  add_probed_rates({.storage_bytes_per_s = 22e6}, record);
  EXPECT_THAT(machine_ceilings(record), IsEmpty());
}

TEST(ProbedCeilings, CountsRealLinkOfEachRank) {
  RunRecord record = real_record();
  record.ranks.push_back(test::make_rank_record(4, 40, test::usual_step));
  record.ranks[0].stages[Stage::h2d].add(kMillisecond, 0, 0, 16 * 602'112);
  add_probed_rates({.link_bytes_per_s = 640 * 602'112.0}, record);
  EXPECT_THAT(machine_ceilings(record), IsEmpty());
  record.simulated = false;
  EXPECT_THAT(machine_ceilings(record), ElementsAre(named("link", 1280, 0.25)));
}

TEST(ProbedCeilings, NamesPredictionBeyondLowestCeiling) {
  RunRecord record = real_record();
  add_probed_rates(kProbed, record);
  const auto ceilings = machine_ceilings(record);
  EXPECT_EQ(beyond_probed(ceilings, 199), "");
  EXPECT_EQ(beyond_probed(ceilings, 400),
            "200 samples/s at most by storage at 22.0 MB/s, as probe measured: fewer than the 400 "
            "that are predicted");
  EXPECT_EQ(beyond_probed({}, 400), "");
}

TEST(ProbedCeilings, PrintsSharesInTable) {
  RunRecord record = real_record();
  add_probed_rates(kProbed, record);
  EXPECT_THAT(test::table_text(record, {200, false}),
              ::testing::AllOf(::testing::HasSubstr("\nstorage at 80.0 % of what probe measured"),
                               ::testing::HasSubstr("200 samples/s by storage at 22.0 MB/s, as "
                                                    "probe measured (80.0 % reached)")));
}

}  // namespace
}  // namespace loaderscope
