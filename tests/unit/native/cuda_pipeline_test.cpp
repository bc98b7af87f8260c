// The native engine on the CUDA device, whose runtime only pretends, in real time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/sleep.h"
#include "dataset/make.h"
#include "device/cuda/cuda_device.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "unit/device/pretend_runtime.h"
#include "unit/native/native_run.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::native {
namespace {

using cuda::PretendRuntime;
using ::testing::Contains;
using ::testing::HasSubstr;

class SmallImages {
 public:
  SmallImages() {
    dataset::MakeOptions options;
    options.path = path();
    options.count = 4;
    options.classes = 1;
    options.size = {40, 30, 0};
    options.threads = 1;
    dataset::make_dataset(options, {});
  }
  std::string path() const { return folder_ / "made"; }

 private:
  source::TempFolder folder_;
};

class CudaPipelineTest : public testing::Test {
 protected:
  RunRecord run_on_pretender(std::string_view settings, std::atomic<int>* signal = nullptr) {
    RunConfig config = parse_config(settings);
    config.trainer.device.value = "cuda";
    RunContext context;
    context.stop_signal = signal;
    context.native.make_devices = [this](const RunConfig& given, const std::atomic<int>& stop) {
      return cuda::make_devices(runtime_, given, stop);
    };
    return run_native(config, context);
  }

  std::shared_ptr<PretendRuntime> runtime_ =
      std::make_shared<PretendRuntime>(PretendRuntime::Time::real);
};

TEST_F(CudaPipelineTest, BooksComputesAndCopies) {
  const RunRecord record = run_on_pretender(
      "workers=2 batch=4 cost=decode=1ms:sleep cost=h2d=4ms compute=8ms steps=20 launches=3");
  EXPECT_FALSE(record.simulated);
  EXPECT_THAT(record.notes, Contains(HasSubstr("GPU 0: Pretender 0")));
  const RankRecord& rank = record.ranks.front();
  const Account account = rank_account(rank);
  Nanos sum = account.compute;
  for (const Nanos ns : account.stall) sum += ns;
  EXPECT_EQ(sum, account.window);
  EXPECT_NEAR(seconds(account.compute), 20 * 0.008, 20 * 0.001);
  EXPECT_GE(account.stall[Cause::h2d], 20 * 3 * kMillisecond);  // one stream: nothing overlaps
  EXPECT_EQ(rank.stages[Stage::launch].count, 20);
  EXPECT_EQ(std::ssize(runtime_->work("spin")) % 4, 1);  // three launches and a copy, and a warm-up
  EXPECT_EQ(runtime_->owned(), 0);
}

TEST_F(CudaPipelineTest, KeepsNotesOfDeviceAndData) {
  const SmallImages images;
  const RunRecord record = run_on_pretender(
      "workers=1 batch=2 epochs=1 warmup=0 samples=9 size=16 data=" + images.path());
  EXPECT_THAT(record.notes, Contains(HasSubstr("GPU 0: Pretender 0")));
  EXPECT_THAT(record.notes, Contains(HasSubstr("the data has 4")));
}

TEST_F(CudaPipelineTest, BooksWaitForSlowerRank) {
  const RunRecord record = run_on_pretender(
      "ranks=2 sync-ranks=true workers=1 batch=1 cost=decode=1ms:sleep compute=4ms steps=20 "
      "inject=decode=+20ms@rank=1");
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_GE(rank_account(record.ranks[0]).waiting_for_ranks, 20 * 8 * kMillisecond);
  EXPECT_GE(rank_account(record.ranks[0]).stall[Cause::decode], 20 * 8 * kMillisecond);
}

// Rank 0 has its second batch long before rank 1 comes to the first gate.
TEST_F(CudaPipelineTest, RunsOtherRankDuringBlockedCopy) {
  const SmallImages images;
  runtime_->copies_block = true;
  const RunRecord record = run_on_pretender(
      "ranks=2 sync-ranks=true workers=1 batch=1 warmup=0 steps=5 size=16 memory=pageable "
      "compute=4ms inject=decode=+20ms@rank=1 data=" +
      images.path());
  EXPECT_EQ(record.ranks[0].steps(), 5);
  EXPECT_GE(rank_account(record.ranks[0]).waiting_for_ranks, 5 * 8 * kMillisecond);
}

// A copy blocks here in error. A thread inside the driver does not check for signals.
TEST_F(CudaPipelineTest, StopsThreadBlockedInDriver) {
  const SmallImages images;
  runtime_->copies_block = true;
  std::atomic<int> signal{0};
  std::jthread stopper([&] {
    sleep_until(monotonic_now() + 300 * kMillisecond);
    signal = 2;
  });
  const Nanos begin = monotonic_now();
  try {
    run_on_pretender(
        "ranks=2 sync-ranks=true workers=1 batch=1 warmup=0 steps=5 size=16 compute=4ms "
        "inject=decode=+60s@rank=1 data=" +
            images.path(),
        &signal);
  } catch (const RunError&) {  // the run has no step
  }
  EXPECT_LT(monotonic_now() - begin, 60 * kSecond);  // the time at which the other rank would come
}

TEST_F(CudaPipelineTest, RejectsMoreLaunchesThanGpuQueuesIfRanksWait) {
  const std::string settings =
      "ranks=2 sync-ranks=true workers=1 batch=1 steps=2 compute=4ms in-flight=4 ";
  EXPECT_THROW(run_on_pretender(settings + "launches=600"), RunError);
  EXPECT_NO_THROW(run_on_pretender(settings + "launches=100"));
}

TEST_F(CudaPipelineTest, ReportsLostDeviceInOneSentence) {
  runtime_->fail("record", 100, "cudaErrorLaunchFailure");
  try {
    run_on_pretender("workers=2 batch=4 cost=decode=1ms:sleep compute=2ms steps=500");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the GPU was lost: a kernel failed on it"));
  }
}

TEST_F(CudaPipelineTest, ReportsMissingMemoryBeforeRun) {
  runtime_->host_memory = 0;
  try {
    run_on_pretender("workers=2 batch=4 cost=decode=1ms:sleep compute=2ms steps=5");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("GPU 0: words for its kernels: out of memory"));
  }
}

}  // namespace
}  // namespace loaderscope::native
