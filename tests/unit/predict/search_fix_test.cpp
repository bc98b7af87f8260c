// The smallest setting that is enough: known answers, and against all values of drawn pipelines.
#include "predict/search_fix.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/hash.h"
#include "engine/model/model_engine.h"
#include "loaderscope/settings.h"
#include "predict/fitted_model.h"

namespace loaderscope {
namespace {

RunRecord searched_run(const std::string& scenario) {
  RunConfig config;
  parse_scenario("engine = model\nwarmup = 32\n" + scenario, "test", config);
  std::vector<std::string> notes;
  return run_model(resolve_to_predict(config, MachineLimits{16}, notes), {});
}

// Predictions for one run, with the number of predictions made.
struct Predicted {
  explicit Predicted(const RunRecord& record) : model(record), base(model.predict({}, 20'000)) {}

  Prediction operator()(const Changes& changes) {
    ++count;
    return changes.empty() ? base : model.predict(changes, 20'000);
  }
  std::optional<FixCandidate> search(const Candidate& candidate) {
    return search_fix(candidate, base, [this](const Changes& c) { return (*this)(c); });
  }

  FittedModel model;
  Prediction base;
  int count = 0;
};

Candidate ranging(SettingRange range) {
  Candidate candidate;
  candidate.ranges = {std::move(range)};
  return candidate;
}

// 96 ms of decoding for a batch that is needed every 10 ms.
TEST(SearchOption, FindsTheSmallestNumberWithMostOfTheGain) {
  const RunRecord record =
      searched_run("batch = 8\nsteps = 160\ncompute = 10ms\nworkers = 1\ncost = decode=12ms");
  Predicted predicted(record);
  const auto option = predicted.search(ranging({"num-workers", 1, 128}));
  ASSERT_TRUE(option);
  EXPECT_EQ(changes_to_text(option->changes), "num-workers=9");
  EXPECT_LE(predicted.count, 14);
}

// 484 ms for a batch that is needed every 20 ms, most of them waiting: 25 workers, on one core.
TEST(SearchOption, AddsWorkersBeyondCoresIfModelGains) {
  const RunRecord record = searched_run(
      "batch = 8\nsteps = 160\ncompute = 20ms\nworkers = 1\ncores = 1\ncost = read=60ms:sleep\n"
      "cost = decode=500us");
  Predicted predicted(record);
  const auto option = predicted.search(ranging({"num-workers", 1, 128}));
  ASSERT_TRUE(option);
  const std::int64_t workers = std::stoll(option->changes.front().value);
  EXPECT_GE(workers, 24);
  EXPECT_LE(workers, 30);
}

TEST(SearchOption, GivesUpWhereMoreGiveNothing) {
  const RunRecord record =
      searched_run("batch = 8\nsteps = 160\ncompute = 10ms\nworkers = 4\ncost = h2d=40ms");
  Predicted predicted(record);
  const auto option = predicted.search(ranging({"num-workers", 4, 128}));
  ASSERT_TRUE(option);
  EXPECT_LT(option->regained, 0.01);
  EXPECT_LE(predicted.count, 8);
}

TEST(SearchOption, KeepsTheFixedCompanions) {
  const RunRecord record =
      searched_run("batch = 8\nsteps = 160\ncompute = 10ms\nworkers = 1\ncost = decode=12ms");
  Predicted predicted(record);
  const auto option =
      predicted.search(ranging({"num-workers", 1, 128, {{"persistent-workers", "true"}}}));
  ASSERT_TRUE(option);
  EXPECT_EQ(changes_to_text(option->changes), "num-workers=9 persistent-workers=true");
}

TEST(SearchOption, PicksFirstOfSimilarWays) {
  const RunRecord record =
      searched_run("batch = 8\nsteps = 160\ncompute = 10ms\nworkers = 1\ncost = decode=2ms");
  Predicted predicted(record);
  Candidate candidate = ranging({"num-workers", 1, 128});
  candidate.options = {Changes{{"decode.speed", "2"}}};
  EXPECT_EQ(changes_to_text(predicted.search(candidate)->changes), "decode.speed=2");
}

// Up to four workers it is known what they give, beyond only what they give at most.
TEST(SearchOption, PrefersValueWithKnownGain) {
  const RunRecord record =
      searched_run("batch = 8\nsteps = 160\ncompute = 10ms\nworkers = 1\ncost = decode=12ms");
  Predicted predicted(record);
  const auto known_up_to = [&](std::int64_t most) {
    return search_fix(ranging({"num-workers", 1, 128}), predicted.base,
                      [&predicted, most](const Changes& changes) {
                        Prediction prediction = predicted(changes);
                        prediction.is_unknown = prediction.config.loader.num_workers > most;
                        return prediction;
                      });
  };
  EXPECT_EQ(changes_to_text(known_up_to(4)->changes), "num-workers=4");
  EXPECT_EQ(changes_to_text(known_up_to(1)->changes), "num-workers=9");
  EXPECT_TRUE(known_up_to(1)->prediction.is_unknown);
}

TEST(SearchOption, ReturnsNothingWithoutValidValue) {
  const RunRecord record =
      searched_run("batch = 8\nsteps = 40\ncompute = 10ms\nworkers = 0\ncost = decode=2ms");
  Predicted predicted(record);
  EXPECT_FALSE(predicted.search(ranging({"prefetch-factor", 2, 32})));
}

TEST(RememberingPredictor, PredictsTheSameOnce) {
  int count = 0;
  const Predictor predict = memoize([&](const Changes&) {
    ++count;
    return Prediction{};
  });
  for (int i = 0; i < 3; ++i) predict({{"num-workers", "4"}});
  predict({{"num-workers", "5"}});
  EXPECT_EQ(count, 2);
}

class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : seed_(seed) {}

  double between(double low, double high) {
    const double part = static_cast<double>(next_bits(seed_) >> 11) * 0x1p-53;
    return low * std::pow(high / low, part);
  }
  std::string pipeline() {
    const auto number = [&](double low, double high) {
      return std::to_string(std::llround(between(low, high)));
    };
    std::string text = "batch = " + number(2, 16) + "\nsteps = 120\n";
    text += "workers = " + number(1, 4) + "\ncores = " + number(2, 32) + "\n";
    text += "prefetch = " + number(1, 3) + "\n";
    text += "compute = " + number(4, 40) + "ms\n";
    text += "cost = read=" + number(100, 8000) + "us:sleep\n";
    text += "cost = decode=lognormal:" + number(300, 6000) + "us:0.5\n";
    return text;
  }

 private:
  std::uint64_t seed_;
};

// Against every number of workers to twice the one that is found.
TEST(SearchOption, FindsSmallestSufficientValueOfDrawnPipelines) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::string pipeline = Drawn(seed).pipeline();
    const RunRecord record = searched_run(pipeline);
    Predicted predicted(record);
    const std::int64_t present = record.config.loader.num_workers;
    const auto option = predicted.search(ranging({"num-workers", present, 128}));
    ASSERT_TRUE(option) << pipeline;
    EXPECT_LE(predicted.count, 20) << pipeline;
    const std::int64_t found = std::stoll(option->changes.front().value);
    const auto rate_with = [&](std::int64_t workers) {
      return predicted.model.predict({{"num-workers", std::to_string(workers)}}, 20'000)
          .samples_per_s;
    };
    double best = 0;
    for (std::int64_t n = present + 1; n <= std::min<std::int64_t>(128, 2 * found + 2); ++n)
      best = std::max(best, rate_with(n));
    const double now = predicted.base.samples_per_s;
    EXPECT_GE(option->prediction.samples_per_s - now, 0.88 * (best - now) - 1e-6)
        << pipeline << found;
    if (found - 1 <= present || best < 1.01 * now) continue;
    EXPECT_LT(rate_with(found - 1) - now, 0.92 * (best - now)) << pipeline << found;
  }
}

}  // namespace
}  // namespace loaderscope
