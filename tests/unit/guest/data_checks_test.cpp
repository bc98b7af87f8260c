#include "guest/host/wrong_data/data_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace loaderscope::guest {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// The counts by name.
std::map<std::string, double> counts(const DataChecks& checks) {
  std::map<std::string, double> counts;
  for (const Metric& metric : checks.faults().metrics) counts[metric.name] = metric.value;
  return counts;
}

OrderMessage order(int epoch, const char* hash, bool shuffled = true) {
  return parse_order({{"iterator", epoch}, {"hash", hash}, {"shuffled", shuffled}});
}

json worker_message(int epoch, int worker, json more) {
  more.update({{"iterator", 0}, {"generation", epoch}, {"worker", worker}});
  return more;
}

StreamMessage stream(int epoch, int worker, const std::string& hash) {
  return parse_stream(worker_message(epoch, worker, {{"hash", hash}}));
}

DrawsMessage draws(int epoch, int worker, json hashes) {
  return parse_draws(worker_message(epoch, worker, std::move(hashes)));
}

StreamEndMessage stream_end(int epoch, int worker, int samples, int declared = 0) {
  return parse_stream_end(worker_message(
      epoch, worker, {{"samples", samples}, {"workers", 2}, {"declared", declared}}));
}

json settings(int epoch, const char* difficulty) {
  return {{"iterator", 0},
          {"generation", epoch},
          {"values", {{"difficulty", difficulty}, {"seen", "x"}}}};
}

TEST(DataChecks, AcceptsDifferentOrdersAndRandomNumbers) {
  DataChecks checks;
  checks.know({1, 0, true});
  for (int epoch = 0; epoch < 3; ++epoch) {
    checks.receive_report(1, order(epoch, std::to_string(epoch).c_str()));
    for (int worker = 0; worker < 3; ++worker) {
      const std::string own = std::to_string(10 * epoch + worker);
      checks.receive_report(1, draws(epoch, worker, {{"numpy", own}}));
      checks.receive_report(1, stream(epoch, worker, own));
    }
  }
  EXPECT_THAT(checks.faults().metrics, IsEmpty());
  EXPECT_THAT(checks.faults().details, IsEmpty());
}

TEST(DataChecks, CountsRepeatedShuffledOrders) {
  DataChecks checks;
  for (int epoch = 0; epoch < 3; ++epoch) checks.receive_report(1, order(epoch, "a"));
  EXPECT_THAT(counts(checks), ElementsAre(Pair("data.repeated_orders", 2)));
}

TEST(DataChecks, AcceptsRepeatedOrdersWithoutShuffle) {
  DataChecks checks;
  for (int epoch = 0; epoch < 3; ++epoch) checks.receive_report(1, order(epoch, "a", false));
  EXPECT_THAT(counts(checks), IsEmpty());
}

TEST(DataChecks, CountsRanksWithEqualOrders) {
  DataChecks checks;
  checks.know({1, 0, true});
  checks.know({2, 1, true});
  checks.receive_report(1, order(0, "a"));
  checks.receive_report(2, order(0, "a"));
  EXPECT_THAT(counts(checks), ElementsAre(Pair("data.alike_ranks", 1)));
}

TEST(DataChecks, AcceptsEqualOrdersWithoutRanks) {
  DataChecks checks;
  checks.receive_report(1, order(0, "a"));
  checks.receive_report(2, order(0, "a"));
  EXPECT_THAT(counts(checks), IsEmpty());
}

TEST(DataChecks, CountsRanksWithEqualStreams) {
  DataChecks checks;
  for (int rank = 0; rank < 2; ++rank) {
    checks.know({rank, rank, true});
    checks.receive_report(rank, stream(0, 0, "a"));
  }
  EXPECT_THAT(counts(checks), ElementsAre(Pair("data.alike_ranks", 1)));
}

TEST(DataChecks, CountsWorkersWithEqualStreamsOrSeeds) {
  DataChecks checks;
  for (int worker = 0; worker < 4; ++worker) {
    checks.receive_report(1, stream(0, worker, "a"));
    checks.receive_report(1,
                          draws(0, worker, {{"numpy", "b"}, {"dataset", "c"}, {"own", {"rng"}}}));
  }
  EXPECT_THAT(counts(checks),
              UnorderedElementsAre(Pair("data.alike_streams", 3), Pair("data.alike_seeds", 3)));
  EXPECT_THAT(checks.faults().details,
              UnorderedElementsAre(Detail{"data.alike_seeds", "numpy"},
                                   Detail{"data.alike_seeds", "dataset.rng"}));
}

// A validation loop has good reasons to.
TEST(DataChecks, AcceptsRepeatedSeedsWithoutShuffle) {
  for (const bool shuffles : {false, true}) {
    DataChecks checks;
    checks.know({1, 0, shuffles});
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (int worker = 0; worker < 2; ++worker) {
        checks.receive_report(1, draws(epoch, worker, {{"torch", std::to_string(worker)}}));
      }
    }
    EXPECT_EQ(counts(checks).count("data.repeated_seeds"), shuffles ? 1U : 0U);
  }
}

TEST(DataChecks, CountsStreamsThatEveryWorkerCopies) {
  const auto with = [](int each) {
    DataChecks checks;
    for (int worker = 0; worker < 2; ++worker)
      checks.receive_report(1, stream_end(0, worker, each, 100));
    return counts(checks);
  };
  EXPECT_THAT(with(100), ElementsAre(Pair("data.copied_streams", 1)));
  EXPECT_THAT(with(50), IsEmpty());
}

TEST(DataChecks, IgnoresEpochsWithoutMessagesFromAllWorkers) {
  DataChecks checks;
  checks.receive_report(1, stream_end(0, 0, 200, 100));
  EXPECT_THAT(counts(checks), IsEmpty());
}

TEST(DataChecks, CountsExhaustedStreams) {
  DataChecks checks;
  for (int epoch = 0; epoch < 3; ++epoch) {
    checks.receive_report(1, stream_end(epoch, 0, epoch == 0 ? 50 : 0));
    checks.receive_report(1, stream_end(epoch, 1, 50));
  }
  EXPECT_THAT(counts(checks), ElementsAre(Pair("data.exhausted_streams", 2)));
}

TEST(DataChecks, ReportsSettingsThatWorkersKeepFromEarlierEpochs) {
  const auto with = [](const char* difficulty) {
    DataChecks checks;
    checks.receive_report(1, parse_settings(settings(0, "easy")));
    checks.receive_report(1, parse_settings(settings(1, "hard")));
    json worker = settings(1, difficulty);
    worker["worker"] = 0;
    checks.receive_report(1, parse_settings(worker));
    return checks.faults().details;
  };
  EXPECT_THAT(with("easy"), ElementsAre(Detail{"data.stale_settings", "dataset.difficulty"}));
  EXPECT_THAT(with("hard"), IsEmpty());
  EXPECT_THAT(with("its own"), IsEmpty());
}

TEST(DataChecks, CountsSamplesWithoutNumbers) {
  DataChecks checks;
  checks.receive_report(1, UnnamedMessage{});
  EXPECT_THAT(counts(checks), ElementsAre(Pair("data.unnamed_samples", 1)));
}

}  // namespace
}  // namespace loaderscope::guest
