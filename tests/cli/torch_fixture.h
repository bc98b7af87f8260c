// Fixtures of tests that run training programs of tests/torch.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "cli/run_binary.h"
#include "cli/torch_python.h"

namespace loaderscope::testing_cli {

inline double seconds_at(const nlohmann::json& object, const char* name) {
  return object.at(name).get<double>();
}

inline double account_sum(const nlohmann::json& account) {
  double sum = seconds_at(account, "compute_s");
  for (const auto& [cause, share] : account.at("stall_s").items()) sum += share.get<double>();
  return sum;
}

// The account closes to the nanosecond.
inline void expect_sums_up(const nlohmann::json& result) {
  EXPECT_NEAR(account_sum(result.at("account")), seconds_at(result.at("window"), "wall_s"), 1e-8);
}

// In every result of a DataLoader: it sums up, and little of it had to be clamped.
inline void expect_closed(const nlohmann::json& result) {
  expect_sums_up(result);
  const nlohmann::json& account = result.at("account");
  EXPECT_LT(seconds_at(account, "clamped_s"), 0.01 * account_sum(account));
}

struct BadEnd {
  const char* job;
  const char* said;
  int exit_code = 1;
};

inline void PrintTo(const BadEnd& end, std::ostream* out) { *out << end.job; }

class TorchJobs : public TorchTest {
 protected:
  // `file`: of tests/torch.
  explicit TorchJobs(const char* file = "jobs.py")
      : file_(std::string(LOADERSCOPE_SOURCE_DIR "/tests/torch/") + file) {}

  // `run FLAGS -- python FILE JOB WORKERS`, with its result as JSON; none where it failed.
  nlohmann::json measured(const std::string& job, int workers, const Words& flags = {}) {
    return run(flags, {torch_python(), file_, job, std::to_string(workers)});
  }
  nlohmann::json run(const Words& flags, const Words& command) {
    Words words = {"run", "--json", "-"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    ended_ = run_binary(words);
    return ended_.out.empty() ? nlohmann::json() : nlohmann::json::parse(ended_.out);
  }
  // The line of JSON that the program has printed, by its first name; an empty object without one.
  nlohmann::json said(const std::string& first) const {
    const auto begin = ended_.err.find("{\"" + first + "\"");
    if (begin == std::string::npos) return nlohmann::json::object();
    return nlohmann::json::parse(ended_.err.substr(begin, ended_.err.find('\n', begin) - begin));
  }
  // Expects every batch after the five of the warm-up. `end_known` is false if the program asks for
  // no batch after the last, so that the end of its step is unknown.
  void expect_all_measured(const nlohmann::json& result, bool end_known = true) const {
    ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
    expect_closed(result);
    EXPECT_EQ(result.at("window").at("steps").get<int>() + 5 + (end_known ? 0 : 1),
              said("batches").value("batches", 0))
        << ended_.err;
  }
  // The program and the result read the clock at different places. A busy machine can keep either
  // of them between two readings.
  void expect_own_rate(const nlohmann::json& result) const {
    const double rate = result.at("throughput").at("samples_per_s").at("mean");
    const double own = said("samples_per_s").value("samples_per_s", 0.0);
    EXPECT_GT(rate, own / 1.5);
    EXPECT_LT(rate, own * 1.5);
  }

  // Returns the prediction for two workers from the last result.
  nlohmann::json predicted_of_two() const {
    const TestFolder folder;
    const Environment cache("XDG_CACHE_HOME", folder.path("cache"));
    const Ended ended = run_binary(
        {"what-if", folder.write("r.json", ended_.out), "--set", "workers=2", "--json", "-"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return nlohmann::json::parse(ended.out);
  }

  // A busy machine makes the gain smaller. A crowded one bends the run until no gain is known: then
  // the reason is said.
  void expect_gain_of_two() const {
    const nlohmann::json predicted = predicted_of_two();
    if (predicted.at("gain").is_null()) {
      EXPECT_NE(predicted.value("why_not", ""), "") << predicted;
    } else {
      EXPECT_GT(predicted.at("gain").get<double>(), 1.5);
      EXPECT_LT(predicted.at("gain").get<double>(), 2.1);
    }
  }

  std::string file_;
  Ended ended_;
};

}  // namespace loaderscope::testing_cli
