#include "source/range_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <span>

#include "loaderscope/errors.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::source {
namespace {

namespace fs = std::filesystem;

class RangeCacheTest : public testing::Test {
 protected:
  static RangeKey key(std::int64_t i) { return {"http://host/a", 7, i * 1000, 1000}; }
  static std::string content(std::int64_t i) {
    return std::string(1000, static_cast<char>('a' + i % 26));
  }
  static void keep(RangeCache& cache, std::int64_t i) {
    const std::string bytes = content(i);
    cache.keep(key(i), std::as_bytes(std::span(bytes)));
  }
  // The kept bytes of a range, "" if it is missing.
  static std::string find(RangeCache& cache, const RangeKey& key) {
    std::string found;
    const auto there = cache.find(key, [&](std::size_t bytes) {
      found.resize(bytes);
      return std::as_writable_bytes(std::span(found));
    });
    return there ? found : "";
  }
  static std::map<std::string, double> metrics(const RangeCache& cache) {
    std::vector<Metric> list;
    cache.add_metrics(list);
    std::map<std::string, double> all;
    for (const Metric& metric : list) all[metric.name] = metric.value;
    return all;
  }
  std::vector<fs::path> kept_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().filename().string().starts_with("range-")) files.push_back(entry.path());
    }
    return files;
  }

  TempFolder folder_;
};

TEST_F(RangeCacheTest, ReturnsKeptRangesToEveryJob) {
  RangeCache cache(folder_.path(), 1 << 20);
  EXPECT_EQ(find(cache, key(1)), "");
  keep(cache, 1);
  EXPECT_EQ(find(cache, key(1)), content(1));
  RangeCache other(folder_.path(), 1 << 20);
  EXPECT_EQ(find(other, key(1)), content(1));
  EXPECT_EQ(find(other, {"http://host/a", 8, 1000, 1000}), "") << "of another object";
}

TEST_F(RangeCacheTest, EvictsLongestUnusedFirst) {
  RangeCache cache(folder_.path(), 20'000);
  for (int i = 0; i < 16; ++i) {
    keep(cache, i);
    EXPECT_EQ(find(cache, key(0)), content(0)) << i;  // used in every round
  }
  for (int i = 16; i < 40; ++i) keep(cache, i);
  EXPECT_EQ(find(cache, key(1)), "");
  EXPECT_EQ(find(cache, key(39)), content(39));
  EXPECT_GT(metrics(cache)["range_cache.evicted"], 0);
  EXPECT_LE(metrics(cache)["range_cache.used"], 20'000);
}

// Files that a killed job, a full disk or another program has damaged.
TEST_F(RangeCacheTest, IgnoresDamagedRanges) {
  RangeCache cache(folder_.path(), 1 << 20);
  keep(cache, 1);
  const std::string path = kept_files().at(0);
  fs::resize_file(path, 500);
  EXPECT_EQ(find(cache, key(1)), "");
  EXPECT_FALSE(fs::exists(path));
  keep(cache, 1);
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(900).put('!');
  EXPECT_EQ(find(cache, key(1)), "");
  EXPECT_THAT(cache.notes(), ::testing::ElementsAre(::testing::HasSubstr("2 ranges were not")));
}

TEST_F(RangeCacheTest, RemovesFilesOfDeadWriter) {
  folder_.write(".range-1-0", std::string(100, 'x'));
  const std::string other = folder_.write("mine.txt");
  const RangeCache cache(folder_.path(), 1 << 20);
  EXPECT_FALSE(fs::exists(folder_ / ".range-1-0"));
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(RangeCacheTest, ReportsSizeThatItNeeds) {
  RangeCache cache(folder_.path(), 50'000);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int i = 0; i < 100; ++i) {
      if (find(cache, key(i)).empty()) keep(cache, i);
    }
  }
  const auto counts = metrics(cache);
  EXPECT_EQ(counts.at("range_cache.hits") + counts.at("range_cache.misses"), 300);
  EXPECT_EQ(counts.at("range_cache.bytes_fetched_again"),
            counts.at("range_cache.bytes_fetched") - 100'000);
  EXPECT_GE(counts.at("range_cache.least_size"), 100'000);
  EXPECT_LE(counts.at("range_cache.least_size"), 120'000);
}

TEST(ReuseDistancesTest, EstimatesDistancesOfManyPieces) {
  const auto reuse = std::make_unique<ReuseDistances>();
  constexpr std::uint64_t kPieces = 20'000;
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 1; i <= kPieces; ++i) reuse->use(i * 0x9e3779b97f4a7c15, 1000, true);
  }
  EXPECT_NEAR(reuse->bytes_known(), 2e7, 2e6);
  EXPECT_NEAR(reuse->bytes_brought_again(), 2e7, 3e6);
  EXPECT_GE(reuse->least_size(), 1.7e7);
  EXPECT_LE(reuse->least_size(), 2.8e7);
}

// Mounts a small file system that only this child process sees, and that ends with the process.
bool becomes_a_full_disk(const std::string& path) {
  if (::unshare(CLONE_NEWNS) != 0) return false;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (::mount("none", path.c_str(), "tmpfs", 0, "size=8k") != 0) return false;
  std::ofstream(path + "/fill") << std::string(64 << 10, 'x');
  return true;
}

TEST_F(RangeCacheTest, ReportsFullDisk) {
  constexpr int kNoMount = 77;
  const pid_t job = ::fork();
  if (job == 0) {
    if (!becomes_a_full_disk(folder_.path())) ::_exit(kNoMount);
    const std::string message =
        error_message<RunError>([&] { RangeCache(folder_ / "cache", 1 << 20); });
    ::_exit(message.find("No space left on device") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ::waitpid(job, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMount)
    GTEST_SKIP() << "no file system may be mounted here";
  EXPECT_EQ(status, 0);
}

TEST_F(RangeCacheTest, ReportsUnusableFolder) {
  const std::string file = folder_.write("file");
  EXPECT_THAT(error_message<RunError>([&] { RangeCache(file + "/x", 1); }),
              ::testing::HasSubstr("--cache-dir"));
}

// An object that was not checked when the data set was opened is proved once per run by its
// version.
TEST_F(RangeCacheTest, ProvesVersionOfUncheckedObjectOncePerRun) {
  const RangeKey unknown = {"http://host/a.jpg", 0, 0, -1};
  const std::string bytes = content(1);
  std::string found;
  const auto take = [&](std::size_t size) {
    found.resize(size);
    return std::as_writable_bytes(std::span(found));
  };
  {
    RangeCache first(folder_.path(), 1 << 20);
    first.keep(unknown, std::as_bytes(std::span(bytes)), "If-None-Match: \"1\"");
    EXPECT_TRUE(first.find(unknown, take)->is_proved);  // fetched in this run
  }
  for (const fs::path& file : kept_files())
    fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(1));
  RangeCache later(folder_.path(), 1 << 20);
  const auto kept = later.find(unknown, take);
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->is_proved);
  EXPECT_EQ(kept->version, "If-None-Match: \"1\"");
  EXPECT_EQ(found, bytes);
  EXPECT_EQ(metrics(later)["range_cache.hits"], 0);
  later.prove(unknown, std::ssize(bytes));
  EXPECT_EQ(metrics(later)["range_cache.hits"], 1);
  EXPECT_EQ(metrics(later)["range_cache.misses"], 0);
  EXPECT_TRUE(later.find(unknown, take)->is_proved);
}

TEST_F(RangeCacheTest, FetchesObjectsWithoutVersionInEachRun) {
  const RangeKey unknown = {"http://host/a.jpg", 0, 0, -1};
  const std::string bytes = content(1);
  RangeCache(folder_.path(), 1 << 20).keep(unknown, std::as_bytes(std::span(bytes)));
  for (const fs::path& file : kept_files())
    fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(1));
  RangeCache later(folder_.path(), 1 << 20);
  EXPECT_EQ(find(later, unknown), "");
}

// Three jobs keep, find and evict ranges in one folder, and one of them is killed. All found bytes
// are right, and the folder stays within its size.
TEST_F(RangeCacheTest, SurvivesKilledJobInSharedFolder) {
  constexpr Bytes kRoom = 40'000;
  const auto work = [&](std::int64_t first, int rounds) {
    RangeCache cache(folder_.path(), kRoom);
    for (int i = 0; i < rounds; ++i) {
      const std::int64_t one = (first + i) % 100;
      const std::string found = find(cache, key(one));
      if (!found.empty() && found != content(one)) ::_exit(1);
      if (found.empty()) keep(cache, one);
    }
    ::_exit(0);
  };
  std::array<pid_t, 3> jobs{};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i] = ::fork();
    if (jobs[i] == 0) work(static_cast<std::int64_t>(30 * i), i == 2 ? 1 << 30 : 1000);
  }
  int status = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    ::waitpid(jobs[i], &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0) << "other bytes than those that were kept";
  }
  ::kill(jobs[2], SIGKILL);
  ::waitpid(jobs[2], &status, 0);
  RangeCache after(folder_.path(), kRoom);
  EXPECT_LE(metrics(after)["range_cache.used"], kRoom);
  keep(after, 7);
  EXPECT_EQ(find(after, key(7)), content(7));
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".range-")) << "left by the killed";
}

// The limit on the file size acts like a full disk. The range is not kept, a note says so, and no
// file remains.
TEST_F(RangeCacheTest, NotesFailedWrites) {
  const pid_t job = ::fork();
  if (job == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    RangeCache cache(folder_.path(), 1 << 20);
    const rlimit limit = {500, 500};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    keep(cache, 1);
    const bool is_said = cache.notes().size() == 1 && find(cache, key(1)).empty();
    ::_exit(is_said && kept_files().empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(job, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace loaderscope::source
