// A job whose storage falls silent ends by time-out: a file system whose server stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/run_binary.h"
#include "unit/dataset/contents.h"
#include "unit/source/container_bytes.h"
#include "unit/source/remote/fault_server.h"

namespace loaderscope::testing_cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::set<std::string> shared_memory() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    names.insert(entry.path().filename());
  return names;
}

class HungStore : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0 || ::access("/dev/fuse", R_OK | W_OK) != 0)
      GTEST_SKIP() << "no file system of our own without root and /dev/fuse";
    dataset::put(folder_.path("served/a.npy"),
                 source::npy_bytes("|u1", "(300, 6000)", std::string(300 * 6'000, 'x')));
    ::mkdir(folder_.path("mnt").c_str(), 0755);
    store_ = std::make_unique<source::FaultServer>(folder_.path("served"), "hung_store.py",
                                                   "python3", "", folder_.path("mnt"));
    if (!store_->runs()) GTEST_SKIP() << "no file system by FUSE here";
  }
  void TearDown() override {
    store_.reset();
    ::umount2(folder_.path("mnt").c_str(), MNT_DETACH);
  }

  RunningBinary& started(const Words& words) {
    return *processes_.emplace_back(std::make_unique<RunningBinary>(words));
  }
  RunningBinary& started(int number, const std::string& data) {
    const Environment rank("RANK", std::to_string(number)), world("WORLD_SIZE", "2");
    const Environment address("MASTER_ADDR", "127.0.0.1");
    const Environment port("MASTER_PORT", std::to_string(29'100 + ::getpid() % 400));
    return started({"run", "--rendezvous", "env", "--data", "npy:" + data, "--device", "sim",
                    "--sync-ranks", "--shuffle", "--compute", "5ms", "--batch", "4", "--workers",
                    "2", "--duration", "600s", "--timeout", "3s"});
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
  std::unique_ptr<source::FaultServer> store_;
  // Processes that may hang until TearDown() ends the store.
  std::vector<std::unique_ptr<RunningBinary>> processes_;
};

TEST_F(HungStore, EndsJobWithHangingReadsByTimeOut) {
  const std::set<std::string> before = shared_memory();
  const std::string data = folder_.path("mnt/a.npy");
  started(0, data);
  started(1, data);
  for (const auto& one : processes_) one->wait_until_it_catches(SIGINT);
  ::usleep(1'500'000);
  store_->send(SIGUSR2);
  for (const auto& one : processes_) {
    const Ended ended = one->wait();
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_THAT(ended.err, ContainsRegex("no batch came for 3\\.000 s: worker [01] is at sample "));
    EXPECT_THAT(ended.err, HasSubstr("mnt/a.npy"));
  }
  EXPECT_EQ(shared_memory(), before);
}

TEST_F(HungStore, EndsProcessThatHangsWhileOpeningItsData) {
  store_->send(SIGUSR2);
  started(0, folder_.path("mnt/a.npy"));
  started(1, folder_.path("mnt/a.npy"));
  for (const auto& one : processes_) {
    const Ended ended = one->wait();
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("nothing of it has run for 3.000 s: it is in "));
  }
}

// A request that the server accepted blocks its caller until the server answers.
TEST_F(HungStore, ReportsThreadHeldByKernelAndEndsWithServer) {
  RunningBinary& run = started({"run", "--data", "npy:" + folder_.path("mnt/a.npy"), "--device",
                                "sim", "--shuffle", "--compute", "5ms", "--batch", "4", "--workers",
                                "2", "--duration", "600s", "--timeout", "1s"});
  run.wait_until_it_catches(SIGINT);
  ::usleep(500'000);
  store_->send(SIGUSR1);
  const std::string said = "the server of a file system (FUSE) answers or ends (one of its threads";
  for (int i = 0; i < 600 && run.err().find(said) == std::string::npos; ++i) ::usleep(100'000);
  EXPECT_FALSE(run.has_ended());
  store_.reset();
  const Ended ended = run.wait();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no batch came for 1.000 s: worker 0 is at sample "));
  EXPECT_THAT(ended.err, HasSubstr(said));
}

}  // namespace
}  // namespace loaderscope::testing_cli
