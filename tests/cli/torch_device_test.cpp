// Batches of a user's DataLoader on their way to the device: copies by the program, loaders around
// the DataLoader, and times that a GPU records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string torch_file(const std::string& name) {
  return LOADERSCOPE_SOURCE_DIR "/tests/torch/" + name;
}

bool has_gpu() { return std::filesystem::exists("/dev/nvidiactl"); }

// Uses the device "meta": its tensors are on no GPU and on no CPU, and hold nothing.
class TorchDevice : public TorchTest {
 protected:
  Ended program(const Words& flags, const std::string& file, const Words& words) {
    Words all = {"run", "--json", "-"};
    all.insert(all.end(), flags.begin(), flags.end());
    all.insert(all.end(), {"--", torch_python(), torch_file(file)});
    all.insert(all.end(), words.begin(), words.end());
    return run_binary(all);
  }
  Ended loader(const std::string& name, const Words& flags = {}) {
    Words all = {"run",      "--json",       "-",
                 "--python", torch_python(), "--epochs",
                 "2",        "--loader",     torch_file("prefetchers.py") + ":make_" + name};
    all.insert(all.end(), flags.begin(), flags.end());
    return run_binary(all);
  }
  static json parsed_result(const Ended& ended) {
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return ended.exit_code == 0 ? json::parse(ended.out) : json();
  }

  const Environment device_{"JOB_DEVICE", "meta"};
};

double median_s(const json& result, const char* stage) {
  return result.at("stages").at(stage).at("p50_s");
}

TEST_F(TorchDevice, CountsCopiesOfProgramAsH2d) {
  const json result =
      parsed_result(program({"--inject", "h2d=+5ms"}, "prefetchers.py", {"copying"}));
  expect_closed(result);
  const json& copies = result.at("stages").at("h2d");
  EXPECT_EQ(copies.at("count"), result.at("window").at("steps"));
  EXPECT_GE(median_s(result, "h2d"),
            0.005 / 2);  // most of the delay, which a copy here has none of
  EXPECT_GE(
      result.at("account").at("stall_s").at("h2d").get<double>(),
      0.0045 * result.at("window").at("steps").get<double>());  // some of it may be contention
  EXPECT_GE(median_s(result, "compute"), 0.004);  // the declared time; the copy does not count
}

TEST_F(TorchDevice, FindsNoFaultInImmediateLoader) {
  const json result =
      parsed_result(loader("copying", {"--compute", "4ms", "--inject", "h2d=+5ms"}));
  expect_closed(result);
  EXPECT_EQ(result.at("window").at("steps"), 2 * 12 - 5);
  EXPECT_GE(median_s(result, "h2d"),
            0.005 / 2);  // most of the delay, which a copy here has none of
  const std::string notes = result.at("notes").dump();
  EXPECT_THAT(notes, AllOf(HasSubstr("the loader is a Copying around a DataLoader"),
                           HasSubstr("batches come on meta already")));
  for (const char* fault : {"twice", "holds a ready batch", "stays on the CPU", "batches that its"})
    EXPECT_THAT(notes, Not(HasSubstr(fault)));
}

TEST_F(TorchDevice, SaysNothingOfPlainDataLoader) {
  const json result = parsed_result(loader("plain", {"--compute", "4ms"}));
  expect_closed(result);
  EXPECT_THAT(result.at("notes").dump(),
              AllOf(Not(HasSubstr("the loader")), Not(HasSubstr("already"))));
}

struct Fault {
  const char* loader;
  std::vector<const char*> said;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.loader; }

class TorchLoaderFaults : public TorchDevice, public ::testing::WithParamInterface<Fault> {};

TEST_P(TorchLoaderFaults, NamesFaultOfLoader) {
  const json result = parsed_result(loader(GetParam().loader, {"--compute", "4ms"}));
  expect_closed(result);
  for (const char* said : GetParam().said) EXPECT_THAT(result.at("notes").dump(), HasSubstr(said));
  // Each compute counts once.
  const json& compute = result.at("stages").at("compute");
  EXPECT_EQ(median_s(result, "compute"), 0.004);
  EXPECT_LE(compute.at("max_s"), 0.008);  // the two last ones of an epoch
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, TorchLoaderFaults,
    ::testing::Values(
        Fault{"twice",
              {"wrong data: the loader gave batch 0 of an epoch twice",
               "the first batch of an epoch stays on the CPU, others come on meta"}},
        Fault{"prefetcher", {"holds a ready batch until its DataLoader has given the next one"}},
        Fault{"dropping", {"the loader gave 11 of the 12 batches", "holds a ready batch"}},
        Fault{"on_device", {"the DataLoader gives batches that are on meta already"}}),
    [](const auto& test) { return std::string(test.param.loader); });

TEST_F(TorchDevice, ReportsUnexpectedEndOfEpoch) {
  const Ended ended = loader("failing");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("Traceback"),
                               HasSubstr("AttributeError: 'NoneType' object has no attribute 'to', "
                                         "after batch 10 of epoch 0; its traceback is above")));
}

TEST_F(TorchDevice, RejectsLoaderWithoutBatches) {
  const Ended ended = loader("nothing");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("what it makes, a int, gives no batches"));
}

TEST_F(TorchDevice, RejectsCudaWithoutGpu) {
  if (has_gpu()) GTEST_SKIP() << "there is a GPU here";
  const Ended ended = loader("plain", {"--device", "cuda"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("device = cuda: PyTorch"), HasSubstr("finds no GPU here"),
                               HasSubstr("--device sim")));
}

class TorchPretendGpu : public TorchDevice {
 protected:
  void SetUp() override {
    TorchDevice::SetUp();
    if (pretend_cupti().empty()) GTEST_SKIP() << "built without CUPTI (part of the CUDA toolkit)";
  }
  const Environment cupti_{"LOADERSCOPE_CUPTI", pretend_cupti()};
};

TEST_F(TorchPretendGpu, TakesAccountFromCupti) {
  const Ended ended = program({}, "pretend_gpu.py", {});
  const json result = parsed_result(ended);
  expect_closed(result);
  EXPECT_EQ(result.at("config").at("device"), "cuda");
  EXPECT_THAT(ended.err, HasSubstr("memory of the GPU taken: 0"));
  EXPECT_THAT(ended.err, HasSubstr("calls recorded: 0"));
  EXPECT_EQ(result.at("window").at("steps"), 25);
  // A step that a busy host takes late has less of it, and none has more.
  const double compute = result.at("account").at("compute_s"),
               copies = result.at("account").at("stall_s").at("h2d");
  EXPECT_GT(compute, 25 * 0.006 / 2);
  EXPECT_LT(compute, 26 * 0.006);
  EXPECT_GT(copies, 25 * 0.001 / 2);
  EXPECT_LT(copies, 30 * 0.001);
  EXPECT_GE(result.at("account").at("stall_s").at("launch").get<double>(), 25 * 0.001);  // the gap
  EXPECT_EQ(result.at("gpu").at("h2d_bytes"), 30 * 1000);
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("by CUPTI, in 25 of 25 steps"));
}

// Kernels that augment are no compute, in whichever order the records come.
TEST_F(TorchPretendGpu, BooksTransformsOnGpuAsAugment) {
  for (const bool is_late : {false, true}) {
    std::optional<Environment> late;
    if (is_late) late.emplace("PRETEND_LATE_MARKS", "1");
    const Ended ended = program({}, "pretend_gpu.py", {"augments"});
    const json result = parsed_result(ended);
    expect_closed(result);
    EXPECT_EQ(result.at("window").at("steps"), 25);
    const json& account = result.at("account");
    const double compute = account.at("compute_s"), augment = account.at("stall_s").at("augment"),
                 on_device = account.at("on_device_s").at("augment");
    EXPECT_GT(compute, 25 * 0.006 / 2);
    EXPECT_LT(compute, 26 * 0.006);
    EXPECT_GT(on_device, 25 * 0.002 / 2);
    EXPECT_LT(on_device, 26 * 0.002);
    EXPECT_GE(augment, on_device);
    EXPECT_EQ(account.at("on_device_s").at("decode"), 0);
    EXPECT_GT(account.at("stall_s").at("h2d").get<double>(), 25 * 0.001 / 2);
    EXPECT_GE(result.at("stages").at("gpu-augment").at("count"), 20);
    EXPECT_NEAR(median_s(result, "gpu-augment"), 0.002, 0.0005);
    EXPECT_THAT(ended.err, Not(HasSubstr("calls recorded: 0")));
  }
}

TEST_F(TorchPretendGpu, BooksWaitForDecoderOfGpuAsDecode) {
  const json result = parsed_result(program({}, "pretend_gpu.py", {"decodes"}));
  expect_closed(result);
  const json& account = result.at("account");
  EXPECT_LT(account.at("compute_s"), 26 * 0.006);
  EXPECT_GT(account.at("on_device_s").at("decode").get<double>(), 25 * 0.003 / 2);
  EXPECT_GE(median_s(result, "gpu-decode"), 0.0025);
  EXPECT_EQ(account.at("on_device_s").at("augment"), 0);
  const json& calls = result.at("gpu_decode");
  EXPECT_GE(calls.at("calls"), 25);
  EXPECT_EQ(calls.at("images").get<double>(), 8 * calls.at("calls").get<double>());
  EXPECT_GE(calls.at("call_s"), 0.003);
}

// A thread of DALI launches the kernels, within ranges that name its operators.
TEST_F(TorchPretendGpu, BooksOperatorsOfDaliByTheirStage) {
  if (nvtx_recorder().empty()) GTEST_SKIP() << "built without NVTX (part of the CUDA toolkit)";
  const json result = parsed_result(program({}, "pretend_gpu.py", {"dali"}));
  expect_closed(result);
  const json& account = result.at("account");
  EXPECT_LT(account.at("compute_s"), 26 * 0.006);
  EXPECT_NEAR(median_s(result, "gpu-decode"), 0.001, 0.0005);
  EXPECT_NEAR(median_s(result, "gpu-augment"), 0.002, 0.0005);
  EXPECT_GT(account.at("on_device_s").at("decode").get<double>(), 25 * 0.001 / 2);
  EXPECT_GT(account.at("on_device_s").at("augment").get<double>(), 25 * 0.002 / 2);
}

TEST_F(TorchPretendGpu, CountsAllKernelsAsComputeIfCallsCannotBeRecorded) {
  const Environment no_calls("PRETEND_NO_CALLS", "1");
  const json result = parsed_result(program({}, "pretend_gpu.py", {"augments"}));
  expect_closed(result);
  EXPECT_GT(result.at("account").at("compute_s"), 25 * 0.006);
  EXPECT_FALSE(result.at("account").contains("on_device_s"));
}

TEST_F(TorchPretendGpu, KeepsViewOfHostIfCuptiRefuses) {
  const Environment refuses("PRETEND_REFUSES", "1");
  const json result = parsed_result(program({}, "pretend_gpu.py", {}));
  expect_closed(result);
  EXPECT_EQ(result.at("config").at("device"), "script");
  EXPECT_THAT(result.at("notes").dump(),
              HasSubstr("compute is what the host saw: CUPTI refuses a second profiler: another"));
}

TEST_F(TorchPretendGpu, LeavesProfilerOfProgramAlone) {
  const Environment profiles("PROFILES", "1");
  const json result = parsed_result(program({}, "pretend_gpu.py", {}));
  expect_closed(result);
  EXPECT_EQ(result.at("window").at("steps"), 25);
  EXPECT_THAT(result.at("notes").dump(), AllOf(HasSubstr("once the program's profiler has begun"),
                                               HasSubstr("in the others it is what the host saw")));
}

// The parent's thread watches the GPU; the worker must not wait for that thread.
TEST_F(TorchPretendGpu, SurvivesProfilerInWorker) {
  const Ended ended = program({}, "pretend_gpu_forks.py", {"worker"});
  expect_closed(parsed_result(ended));
  EXPECT_THAT(ended.err, HasSubstr("with a worker 24"));
}

TEST_F(TorchPretendGpu, LetsChildThatTakesBatchesEnd) {
  const Ended ended = program({}, "pretend_gpu_forks.py", {"child"});
  parsed_result(ended);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("child 24"), HasSubstr("ended with 0")));
}

// The thread that pins, which PyTorch starts only where there is an accelerator.
TEST_F(TorchDevice, MeasuresPinThread) {
  const Ended ended = program({"--bind", "0"}, "pretend_pin.py", {});
  const json result = parsed_result(ended);
  EXPECT_THAT(ended.err, HasSubstr("60 batches"));
  expect_closed(result);
  const json& pinned = result.at("stages").at("pin");
  EXPECT_GE(pinned.at("count"), result.at("window").at("steps"));
  EXPECT_GE(pinned.at("mean_s"), 0.002);  // two tensors
}

TEST_F(TorchDevice, LetsUnknownPinThreadPin) {
  const Ended ended = program({}, "pretend_pin.py", {"oddly"});
  const json result = parsed_result(ended);
  EXPECT_THAT(ended.err, HasSubstr("60 batches"));
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("the thread that pins is not looked into"));
}

// Needs a real GPU.
class TorchGpu : public TorchDevice {
 protected:
  void SetUp() override {
    TorchDevice::SetUp();
    if (!has_gpu()) GTEST_SKIP() << "no GPU here";
  }
  const Environment real_{"JOB_DEVICE", "cuda"};
};

TEST_F(TorchGpu, AccountsForKernelsAndCopies) {
  const json result = parsed_result(program({}, "prefetchers.py", {"copying"}));
  expect_closed(result);
  EXPECT_EQ(result.at("config").at("device"), "cuda") << result.at("notes");
  EXPECT_GE(median_s(result, "compute"), 0.001);
  EXPECT_GT(result.at("gpu").at("h2d_bytes").get<double>(), 0);
}

TEST_F(TorchGpu, TrainsLoaderInEachCopyMode) {
  for (const char* copy : {"sync", "async", "stream"}) {
    const json result =
        parsed_result(loader("plain", {"--device", "cuda", "--compute", "4ms", "--copy", copy}));
    expect_closed(result);
    EXPECT_EQ(result.at("simulated"), false);
    EXPECT_NEAR(median_s(result, "compute"), 0.004, 0.001) << copy;
    EXPECT_GT(median_s(result, "h2d"), 0) << copy;
  }
}

}  // namespace
}  // namespace loaderscope::testing_cli
