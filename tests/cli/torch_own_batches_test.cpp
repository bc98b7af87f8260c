// Training loops whose batches come from no DataLoader of PyTorch: from functions of their own and
// from the loaders of other packages. They do what they do unmeasured, to the last bit.
#include <gmock/gmock.h>

#include <ostream>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct OwnBatches {
  const char* job;
  const char* name;  // function that gives the batches
  int steps;         // measured steps: after the warm-up, and with a known end
};

void PrintTo(const OwnBatches& own, std::ostream* out) { *out << own.job; }

class TorchOwnBatches : public TorchJobs {
 protected:
  TorchOwnBatches() : TorchJobs("own_batches.py") {}

  json measured_by(const std::string& name, const std::string& job) {
    return run({"--batch-function", file_ + ":" + name}, {torch_python(), file_, job});
  }
  // Returns the program's own line of JSON from a run without loaderscope.
  json said_unmeasured(const std::string& job, const std::string& workers = "2") const {
    const Environment at_once("JOB_AT_ONCE", "1");
    const Ended alone = run_program(torch_python(), {file_, job, workers});
    const auto begin = alone.out.find("{\"batches\"");
    return begin == std::string::npos ? json() : json::parse(alone.out.substr(begin));
  }
};

class TorchOwnBatchesOfAllKinds : public TorchOwnBatches,
                                  public ::testing::WithParamInterface<OwnBatches> {};

// Sleeps of 5 ms for a batch and of 10 ms for a step, which a busy machine makes longer.
TEST_P(TorchOwnBatchesOfAllKinds, CountsBatchesAsWorkOfTrainer) {
  const json result = measured_by(GetParam().name, GetParam().job);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(result);
  EXPECT_EQ(said("batches"), said_unmeasured(GetParam().job));
  EXPECT_EQ(result.at("window").at("steps"), GetParam().steps);
  EXPECT_EQ(result.at("config").at("executor"), "opaque");
  EXPECT_EQ(result.at("config").at("batch_size"), 8);
  const double compute = result.at("account").at("compute_s");
  const double whole_steps = GetParam().steps - 1;
  EXPECT_GE(compute, whole_steps * 0.010);
  EXPECT_GE(seconds_at(result.at("window"), "wall_s") - compute, whole_steps * 0.005);
  EXPECT_GE(seconds_at(result.at("stages").at("opaque"), "p50_s"), 0.005);
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("is the batch function of " + file_));
}

INSTANTIATE_TEST_SUITE_P(Jobs, TorchOwnBatchesOfAllKinds,
                         ::testing::Values(OwnBatches{"plain_function", "get_batch", 94},
                                           OwnBatches{"bound_method", "Batches.next", 94},
                                           OwnBatches{"batch_generator", "generated", 95},
                                           OwnBatches{"within_a_function", "next_batch", 93}),
                         [](const auto& test) { return std::string(test.param.job); });

// nanoGPT does so: its batches without gradients count as those of another loader.
TEST_F(TorchOwnBatches, ExcludesValidation) {
  const json result = measured_by("get_batch", "with_validation");
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(result.at("window").at("steps"), 94);
  EXPECT_EQ(result.at("config").at("batch_size"), 8);
  EXPECT_EQ(said("batches"), said_unmeasured("with_validation"));
}

TEST_F(TorchOwnBatches, MeasuresDataLoaderWithinFunction) {
  const json result = measured_by("take", "around_a_loader");
  expect_all_measured(result, false);
  EXPECT_EQ(result.at("config").at("executor"), "inline");
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("DataLoader of TensorDataset"));
}

TEST_F(TorchOwnBatches, FindsBatchFunctionDuringRun) {
  const json result = run({}, {torch_python(), file_, "long_function"});
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_THAT(ended_.err, HasSubstr("after 10 s of training, and its tensors come from"));
  EXPECT_THAT(ended_.err, HasSubstr("own_batches.py:get_batch -- " + torch_python()));
  EXPECT_GT(result.at("window").at("steps"), 50);
  EXPECT_THAT(result.at("notes").dump(),
              HasSubstr("own_batches.py:get_batch was seen to give them"));
  EXPECT_EQ(said("batches"), said_unmeasured("long_function"));
}

TEST_F(TorchOwnBatches, NamesGeneratorThatRunsAlready) {
  run({}, {torch_python(), file_, "long_generator"});
  EXPECT_EQ(ended_.exit_code, 1);
  EXPECT_THAT(ended_.err, HasSubstr("own_batches.py:generated; measure that: loaderscope run "));
  EXPECT_EQ(said("batches").at("batches"), 900);
}

TEST_F(TorchOwnBatches, KeepsResultOfFailedProgram) {
  const json result = measured_by("get_batch", "failing_function");
  EXPECT_EQ(ended_.exit_code, 1);
  EXPECT_THAT(ended_.err, HasSubstr("ended with exit code 3; what it said of it is above"));
  EXPECT_EQ(result.at("window").at("steps"), 54);
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("ended with exit code 3"));
}

TEST_F(TorchOwnBatches, ReportsMissingFunctionInOneSentence) {
  measured_by("get_bach", "plain_function");
  EXPECT_EQ(ended_.exit_code, 1);
  EXPECT_THAT(ended_.err, HasSubstr("own_batches.py has no function get_bach; name the one"));
  measured_by("MODEL", "plain_function");
  EXPECT_THAT(ended_.err, HasSubstr("MODEL is a Linear; name the function"));
  run({"--batch-function", "other.py:get_batch"}, {torch_python(), file_, "plain_function"});
  EXPECT_THAT(ended_.err, HasSubstr("the program has not loaded other.py"));
  EXPECT_THAT(ended_.err, Not(HasSubstr("Traceback")));
}

struct OtherLoader {
  const char* job;
  int workers;
  const char* module;  // required Python module
  int batches;
  const char* executor;
};

void PrintTo(const OtherLoader& other, std::ostream* out) {
  *out << other.job << " " << other.workers;
}

class TorchOtherLoaders : public TorchOwnBatches,
                          public ::testing::WithParamInterface<OtherLoader> {
 protected:
  void SetUp() override {
    TorchOwnBatches::SetUp();
    if (!IsSkipped() && !torch_python_has(GetParam().module))
      GTEST_SKIP() << "no Python with " << GetParam().module << ": name one in LOADERSCOPE_PYTHON";
    file_ = LOADERSCOPE_SOURCE_DIR "/tests/torch/other_loaders.py";
  }
};

TEST_P(TorchOtherLoaders, MeasuresLoaderWithoutChangingTraining) {
  const OtherLoader& other = GetParam();
  const json result = measured(other.job, other.workers);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(result);
  EXPECT_EQ(said("batches"), said_unmeasured(other.job, std::to_string(other.workers)));
  EXPECT_EQ(said("batches").at("batches"), other.batches);
  EXPECT_EQ(result.at("window").at("steps"), other.batches - 5);
  EXPECT_EQ(result.at("config").at("executor"), other.executor);
  EXPECT_EQ(result.at("config").at("batch_size"), 8);
  if (result.at("config").at("executor") == "opaque") return;
  // Each sample takes 1 ms, in a worker or here.
  EXPECT_EQ(result.at("stages").at("opaque").at("count"), (other.batches - 5) * 8);
  EXPECT_GT(result.at("state").at("trainer_s"), 0);
  if (other.workers == 0) return;
  EXPECT_EQ(result.at("stages").at("transport").at("count"), other.batches - 5);
  EXPECT_GT(result.at("state").at("worker_s"), 0);
  EXPECT_GT(result.at("state").at("bytes"), 0);
}

// Two epochs of 40 batches. Loaders that resume add the 28 batches after the 12th.
INSTANTIATE_TEST_SUITE_P(
    Packages, TorchOtherLoaders,
    ::testing::Values(OtherLoader{"stateful", 0, "torchdata", 108, "inline"},
                      OtherLoader{"stateful", 2, "torchdata", 108, "processes"},
                      OtherLoader{"stateful_stream", 0, "torchdata", 108, "inline"},
                      OtherLoader{"stateful_stream", 2, "torchdata", 108, "processes"},
                      OtherLoader{"accelerated", 2, "torchdata", 80, "processes"},
                      OtherLoader{"nodes", 0, "torchdata", 80, "opaque"},
                      OtherLoader{"dali", 0, "nvidia.dali", 80, "opaque"}),
    [](const auto& test) {
      return std::string(test.param.job) + "_" + std::to_string(test.param.workers);
    });

TEST_F(TorchOwnBatches, RejectsSettingsWithoutDataLoader) {
  run({"--batch-function", file_ + ":get_batch", "--num-workers", "2"},
      {torch_python(), file_, "plain_function"});
  EXPECT_EQ(ended_.exit_code, 1);
  EXPECT_THAT(ended_.err, HasSubstr("gives batches without a DataLoader of PyTorch; leave out "
                                    "--num-workers, as its settings are its own (change them in"));
}

TEST_F(TorchOwnBatches, EndsProgramAfterSteps) {
  const json result = run({"--batch-function", file_ + ":get_batch", "--steps", "30"},
                          {torch_python(), file_, "long_function"});
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(result.at("window").at("steps"), 30);
  EXPECT_TRUE(said("batches").empty());
}

// These need no torch.

TEST(BatchFunction, RejectsMissingProgram) {
  const Ended ended = run_binary({"run", "--batch-function", "train.py:get_batch"});
  EXPECT_EQ(ended.exit_code, 64);
  EXPECT_THAT(ended.err, HasSubstr("give that, too: run --batch-function"));
}

TEST(PythonFlags, RejectsFlagsThatPreventMeasuring) {
  for (const char* flag : {"-I", "-S", "-E", "-uE", "-BS"}) {
    const Ended ended = run_binary({"run", "--", "python3", flag, "-c", "print('ran')"});
    EXPECT_EQ(ended.exit_code, 64) << flag;
    EXPECT_THAT(ended.err, HasSubstr("leave out -"));
    EXPECT_THAT(ended.err, Not(HasSubstr("ran")));
  }
  const Ended later_flag =
      run_binary({"run", "--", "env", "python3", "-Xdev", "-c", "print('ran')", "-I"});
  EXPECT_EQ(later_flag.exit_code, 1);
  EXPECT_THAT(later_flag.err, HasSubstr("ran"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
