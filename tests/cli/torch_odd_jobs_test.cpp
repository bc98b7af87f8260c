// Programs as one meets them now and then: they run as they would unmeasured, and all that they
// train with is counted.
#include <gmock/gmock.h>

#include <algorithm>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct OddJob {
  const char* name;
  int workers;
  int batches;   // batches that the program must have taken
  int measured;  // measured batches with the warm-up; -1: not exactly known
  Words flags = {};
};

void PrintTo(const OddJob& job, std::ostream* out) { *out << job.name << " " << job.workers; }

class TorchOddJobs : public TorchJobs, public ::testing::WithParamInterface<OddJob> {
 protected:
  TorchOddJobs() : TorchJobs("odd_jobs.py") {}
};

class TorchJobAgain : public TorchJobs {
 protected:
  TorchJobAgain() : TorchJobs("odd_jobs.py") {}
};

bool is_wrong_data(const json& finding) { return finding.at("wrong_data").get<bool>(); }

TEST_P(TorchOddJobs, MeasuresJobWithoutChangingIt) {
  const OddJob& job = GetParam();
  const json result = measured(job.name, job.workers, job.flags);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(said("batches").value("batches", 0), job.batches) << ended_.err;
  EXPECT_THAT(ended_.err, Not(HasSubstr("Traceback")));
  expect_closed(result);
  const json& findings = result.at("findings");
  EXPECT_TRUE(std::none_of(findings.begin(), findings.end(), is_wrong_data)) << findings;
  EXPECT_EQ(result.at("ranks").size(), 1U);
  if (job.measured >= 0) {
    EXPECT_EQ(result.at("window").at("steps").get<int>() + 5, job.measured);
  }
}

TEST_F(TorchJobAgain, ReportsLoaderOfLastProgram) {
  const json result = measured("runs_itself_again", 1);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(result.at("config").at("batch_size"), 8);
  EXPECT_EQ(result.at("config").at("num_workers"), 1);
  EXPECT_EQ(result.at("ranks").size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, TorchOddJobs,
    ::testing::Values(
        OddJob{"runs_itself_again", 0, 40, 40}, OddJob{"runs_itself_again", 1, 40, 40},
        OddJob{"peeks", 0, 44, 44}, OddJob{"peeks", 2, 44, 44}, OddJob{"zips", 0, 80, -1},
        OddJob{"makes_iterators_itself", 0, 40, 40}, OddJob{"makes_iterators_itself", 1, 40, 40},
        OddJob{"zips", 2, 80, -1}, OddJob{"changes_its_workers", 1, 120, 120},
        OddJob{"loads_in_a_data_set", 0, 120, -1}, OddJob{"loads_in_a_data_set", 1, 120, 120},
        OddJob{"gives_what_will_not_be_looked_at", 0, 40, 40},
        OddJob{"gives_what_will_not_be_looked_at", 2, 40, 40},
        OddJob{"trains_in_two_threads", 0, 80, -1}, OddJob{"trains_in_two_threads", 2, 80, -1},
        OddJob{"samples_oddly", 0, 40, 40}, OddJob{"samples_oddly", 2, 40, 40},
        OddJob{"has_loaders_that_are_equal", 2, 40, 40},
        OddJob{"has_a_length_that_costs", 0, 40, 40}, OddJob{"has_a_length_that_costs", 1, 40, 40},
        OddJob{"decides_how_to_start_later", 0, 40, 40}, OddJob{"has_two_lists", 0, 120, 120},
        OddJob{"takes_python_at_its_word", 0, 40, 40},
        OddJob{"starts_one_process_after_another", 0, 80, 80},
        OddJob{"continues_without_it", 0, 29, -1, {"--timeout", "3s"}}),
    [](const auto& test) {
      return std::string(test.param.name) + "_" + std::to_string(test.param.workers);
    });

class TorchBuckets : public TorchJobs {
 protected:
  TorchBuckets() : TorchJobs("odd_jobs.py") {}
};

// Their sampler says neither how many samples an epoch has nor how many a batch has.
TEST_F(TorchBuckets, FindsBatchSizeOfBuckets) {
  const json config = measured("samples_in_buckets", 0).at("config");
  EXPECT_EQ(config.at("samples"), 320);
  EXPECT_EQ(config.at("batch_size"), 8);
}

class TorchLoadingAhead : public TorchJobs, public ::testing::WithParamInterface<int> {
 protected:
  TorchLoadingAhead() : TorchJobs("odd_jobs.py") {}
};

// The main thread waits for the thread that gets the exit. A killed program would print no result.
TEST_P(TorchLoadingAhead, EndsLikeSystemExit) {
  const json result = measured("loads_ahead_in_a_thread", GetParam(), {"--steps", "20"});
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_GE(said("batches").value("batches", 0), 20) << ended_.err;
  EXPECT_THAT(ended_.err, Not(HasSubstr("Traceback")));
  EXPECT_EQ(result.at("window").at("steps"), 20);
}

INSTANTIATE_TEST_SUITE_P(Jobs, TorchLoadingAhead, ::testing::Values(0, 2));

}  // namespace
}  // namespace loaderscope::testing_cli
