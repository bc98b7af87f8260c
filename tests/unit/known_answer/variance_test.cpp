// Costs that vary: the mean is kept, and bounds for what can be known of the rest. The bounds are
// five standard errors of a mean of 20,000 independent values; the seed is fixed.
#include <cmath>

#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

constexpr double kDraws = 20'000;

// Without a device a worker that never rests gives a step every T: the window is the sum of
// 20,000 draws.
double mean_step_ms(const std::string& settings) {
  const RunRecord record = run("workers=1 batch=1 device=null warmup=10 steps=20000 " + settings);
  const Account account = rank_account(record.ranks[0]);
  EXPECT_EQ(account.stall[Cause::decode] + account.stall[Cause::read], account.window) << settings;
  return static_cast<double>(account.window) / 1e6 / kDraws;
}

double five_errors(double deviation) { return 5 * deviation / std::sqrt(kDraws); }

TEST(KnownAnswerVariance, KeepsMeanOfDistributions) {
  // A lognormal deviates by mean x sqrt(exp(sigma^2) - 1), an exponential by its mean, a uniform
  // by width / sqrt(12).
  EXPECT_NEAR(mean_step_ms("cost=decode=lognormal:10ms:0.5"), 10,
              five_errors(10 * std::sqrt(std::exp(0.25) - 1)));
  EXPECT_NEAR(mean_step_ms("cost=decode=exponential:10ms"), 10, five_errors(10));
  EXPECT_NEAR(mean_step_ms("cost=decode=uniform:5ms:15ms"), 10, five_errors(10 / std::sqrt(12)));
  // sigma of ln such that the 99th percentile is 4 x the mean: ln 4 = 2.3263 s - s^2 / 2,
  // s = 0.7030.
  EXPECT_NEAR(mean_step_ms("cost=decode=lognormal:10ms:p99=40ms"), 10,
              five_errors(10 * std::sqrt(std::exp(0.703 * 0.703) - 1)));
  // A rate is spread as its time is: 1 MB at 100 MB/s, 10 ms.
  EXPECT_NEAR(mean_step_ms("stored-bytes=1MB cost=read=lognormal:100MB/s:0.5"), 10,
              five_errors(10 * std::sqrt(std::exp(0.25) - 1)));
  // A fixed rate and sizes that vary.
  EXPECT_NEAR(mean_step_ms("stored-bytes=lognormal:1MB:0.5 cost=read=100MB/s"), 10,
              five_errors(10 * std::sqrt(std::exp(0.25) - 1)));
}

TEST(KnownAnswerVariance, KeepsMeanOfRandomInjections) {
  // 100 ms with p = 0.05 on top of 5: a mean of 10, a deviation of 100 sqrt(0.05 x 0.95).
  EXPECT_NEAR(mean_step_ms("cost=decode=5ms inject=decode=+100ms@p=0.05"), 10,
              five_errors(100 * std::sqrt(0.05 * 0.95)));
}

// Two injections into one stage are drawn apart: with p = 0.5 each, a quarter of the samples has
// neither, half has one, a quarter has both.
TEST(KnownAnswerVariance, DrawsInjectionsIndependently) {
  const RunRecord record =
      run("workers=1 batch=1 device=null cost=decode=5ms inject=decode=+10ms@p=0.5 "
          "inject=decode=+10ms@p=0.5 warmup=10 steps=20000");
  const Histogram& times = record.ranks[0].stages[Stage::decode].wall_histogram;
  EXPECT_EQ(times.quantile(0.24), 5_ms);
  EXPECT_EQ(times.quantile(0.26), 15_ms);
  EXPECT_EQ(times.quantile(0.74), 15_ms);
  EXPECT_EQ(times.quantile(0.76), 25_ms);
}

// A trainer that makes its batches, N = 2: a step takes max(T, C). For an exponential T of mean
// 10 and C = 10 E max = 10 + 10 / e: the mean batch would be in time, and yet the device waits
// for 10 / e = 3.679 ms a step. The deviation of max(T, 10): E (T - 10)^2 over T > 10 is 200 / e,
// so sqrt(200 / e - (10 / e)^2) = 7.75.
TEST(KnownAnswerVariance, WaitsDespiteSufficientMeans) {
  const Account account = rank_account(
      run("workers=0 batch=1 cost=decode=exponential:10ms compute=10ms warmup=10 steps=20000")
          .ranks[0]);
  EXPECT_EQ(account.compute, 200'000_ms);
  EXPECT_NEAR(static_cast<double>(account.idle()) / 1e6 / kDraws, 10 / std::exp(1),
              five_errors(7.75));
  EXPECT_EQ(account.stall[Cause::decode], account.idle());
  EXPECT_EQ(account.why[Why::capacity], account.idle());
}

// A sample costs the same in every worker and at any time.
TEST(KnownAnswerVariance, DrawsCostsBySampleOnly) {
  const std::string settings =
      "batch=4 samples=400 shuffle=true epochs=1 warmup=0 cost=read=lognormal:3ms:1 "
      "cost=decode=exponential:10ms inject=decode=+50ms@p=0.1 compute=1ms ";
  const StageStats expected = run(settings + "workers=1").ranks[0].stages[Stage::decode];
  EXPECT_EQ(expected.count, 400);
  for (const char* way : {"workers=0", "workers=4", "workers=4 prefetch=5",
                          "workers=3 in-order=false", "task=sample workers=5"}) {
    const RunRecord record = run(settings + way);
    EXPECT_EQ(record.ranks[0].stages[Stage::decode].wall, expected.wall) << way;
    EXPECT_EQ(record.ranks[0].stages[Stage::decode].count, 400) << way;
  }
  const RunRecord two = run(settings + "workers=2 ranks=2");
  EXPECT_EQ(two.ranks[0].stages[Stage::decode].wall + two.ranks[1].stages[Stage::decode].wall,
            expected.wall);
}

TEST(KnownAnswerVariance, RepeatsOnlyWithSameSeed) {
  const auto window_length = [](const std::string& seed) {
    return run("workers=2 batch=4 cost=decode=exponential:10ms compute=1ms steps=50 seed=" + seed)
        .ranks[0]
        .window();
  };
  EXPECT_EQ(window_length("1"), window_length("1"));
  EXPECT_NE(window_length("1"), window_length("2"));
}

// Each of 20,000 samples takes 2 ms, and one in 200 takes 8 ms more; batches of 1, C = 2, W = 1: a
// step takes 2 ms or 10. Nothing can be made ahead, so each of the 100 slow samples stalls the
// device for 8 ms, and the later batches never catch up. That is exactly 40 s of compute and 0.8 s
// of stall.
TEST(KnownAnswerVariance, BooksOneSlowSampleInTwoHundred) {
  const Account account =
      rank_account(run("workers=1 batch=1 cost=decode=2ms inject=decode=+8ms@every=200 compute=2ms "
                       "warmup=200 steps=20000")
                       .ranks[0]);
  EXPECT_EQ(account.compute, 40'000_ms);
  EXPECT_EQ(account.stall[Cause::decode], 800_ms);
  EXPECT_EQ(account.window, 40'800_ms);
}

}  // namespace
}  // namespace loaderscope::known_answer
