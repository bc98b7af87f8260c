// Results in the cache of `datasets`, found by the files that a made job has mapped.
#include "watch/map_results.h"

#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include "unit/watch/pretend_job.h"

namespace loaderscope::watch {
namespace {

constexpr pid_t kJob = 5'000'000, kPool = 5'000'001;
constexpr std::int64_t kBoot = 1'700'000'000, kStarted = 100;  // s, and s since then

class MapResultsOfAJob : public testing::Test {
 protected:
  void file(const std::string& name, std::int64_t age_of_job_s) const {
    job_.write(own_root_ + "/" + name, "");
    const timeval at{kBoot + kStarted + age_of_job_s, 0};
    const timeval times[] = {at, at};
    ASSERT_EQ(::utimes((job_.path() / own_root_ / name).c_str(), times), 0);
  }
  void maps(const std::string& names) const {
    std::string text = "7f0000000000-7f0000001000 r-xp 00000000 fe:00 1    /usr/lib/libc.so.6\n";
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t end = std::min(names.find(' ', at), names.size());
      text += "7f0000001000-7f0000002000 r--s 00000000 fe:00 2    /" + names.substr(at, end - at) +
              "\n";
      at = end + 1;
    }
    job_.write("proc/" + std::to_string(kJob) + "/maps", text);
  }
  std::optional<MapResults> report() {
    results_.look({kJob}, {kJob, kPool});
    return results_.report();
  }

  test::PretendJob job_;
  std::string own_root_ = "inside";  // root of the job, which is in a container
  MapResultsWatch results_ = make();

 private:
  MapResultsWatch make() const {
    job_.write("proc/stat", "btime " + std::to_string(kBoot) + "\n");
    const std::filesystem::path process = job_.path() / "proc" / std::to_string(kJob);
    std::filesystem::create_directories(process);
    std::filesystem::create_directory_symlink(job_.path() / own_root_, process / "root");
    return {job_.path(), kStarted * ::sysconf(_SC_CLK_TCK)};
  }
};

TEST_F(MapResultsOfAJob, SeparatesFoundFromMadeResults) {
  file("c/cache-0a.arrow", -50);
  file("c/cache-0b_00000_of_00002.arrow", -50);
  file("c/cache-0b_00001_of_00002.arrow", -40);
  file("c/cache-0c.arrow", 20);
  maps(
      "c/cache-0a.arrow c/cache-0a.arrow c/cache-0b_00000_of_00002.arrow "
      "c/cache-0b_00001_of_00002.arrow c/cache-0c.arrow c/photos-train.arrow c/gone-0.arrow");
  const std::optional<MapResults> results = report();
  ASSERT_TRUE(results);
  EXPECT_EQ(results->found, 2);
  EXPECT_EQ(results->made, 1);
  maps("c/cache-0a.arrow");  // files used before count too
  EXPECT_EQ(report()->made, 1);
}

TEST_F(MapResultsOfAJob, CountsPartlyMissingResultAsMade) {
  file("c/cache-0b_00000_of_00002.arrow", -50);
  file("c/cache-0b_00001_of_00002.arrow", 5);
  maps("c/cache-0b_00000_of_00002.arrow c/cache-0b_00001_of_00002.arrow");
  EXPECT_EQ(report()->found, 0);
  EXPECT_EQ(report()->made, 1);
}

TEST_F(MapResultsOfAJob, FindsFilesThatAreBeingWritten) {
  file("c/photos-train.arrow", -50);
  maps("c/photos-train.arrow");
  const auto open = [&](pid_t process, int number, const std::string& name, const char* flags) {
    job_.open(process, number, name);
    job_.write("proc/" + std::to_string(process) + "/fdinfo/" + std::to_string(number),
               std::string("pos:\t0\nflags:\t") + flags + "\n");
  };
  open(kJob, 4, "/c/tmpread", "0100000");
  open(kJob, 5, "/elsewhere/tmpwrite", "0100001");
  open(kJob, 6, "/c/log.txt", "0100001");
  EXPECT_TRUE(report()->being_written.empty());
  open(kPool, 3, "/c/tmp1x2y", "0100001");
  EXPECT_EQ(report()->being_written, std::vector<std::string>{"/c/tmp1x2y"});
  job_.end(kPool);
  EXPECT_TRUE(report()->being_written.empty());
}

TEST_F(MapResultsOfAJob, ReadsLongMapsToTheEnd) {
  std::string names;
  for (int i = 0; i < 20'000; ++i) names += "usr/lib/lib" + std::to_string(i) + ".so ";
  file("c/cache-0a.arrow", -50);
  maps(names + "c/cache-0a.arrow");  // more than 1 MiB precede it
  ASSERT_TRUE(report());
  EXPECT_EQ(report()->found, 1);
}

TEST_F(MapResultsOfAJob, ReturnsNoResultsIfFilesAreUnreadable) {
  EXPECT_FALSE(report());
  maps("c/photos-train.arrow");
  ASSERT_TRUE(report());
  EXPECT_EQ(report()->found + report()->made, 0);
  maps("c/cache-hidden.arrow");
  EXPECT_FALSE(report());
  file("c/cache-hidden.arrow", -50);
  ASSERT_TRUE(report());
  EXPECT_EQ(report()->found, 1);
}

}  // namespace
}  // namespace loaderscope::watch
