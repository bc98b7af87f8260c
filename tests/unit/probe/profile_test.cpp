// The profile of a machine: limits below a given root, figures compared with those of peers, and
// the answer for a job.
#include "probe/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "loaderscope/errors.h"
#include "probe/measurement.h"
#include "probe/probed_data.h"
#include "report/kinds.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/writers.h"
#include "unit/machine/pretend_root.h"

namespace loaderscope::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Figure* find(const Outcome& outcome, const std::string& name) {
  for (const Figure& figure : outcome.figures) {
    if (figure.name == name) return &figure;
  }
  return nullptr;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// --- limits ---

class LimitsTest : public testing::Test {
 protected:
  LimitsTest() { options_.root = root_.path(); }

  Outcome measure() {
    const ProbedData data("", "", 1 << 20, stop_);
    const Cpus cpus = read_cpus(options_.root);
    Outcome outcome;
    measure_limits({options_, stop_, cpus, data, monotonic_now() + kSecond}, outcome);
    return outcome;
  }
  void allow(const std::string& cpus) const {
    root_.write("proc/" + std::to_string(::getpid()) + "/status",
                "Name:\tx\nCpus_allowed_list:\t" + cpus + "\n");
  }
  double value(const Outcome& outcome, const std::string& name) {
    const Figure* figure = find(outcome, name);
    return figure == nullptr ? -1 : figure->value;
  }

  test::PretendRoot root_;
  ProfileOptions options_;
  std::atomic<int> stop_{0};
};

TEST_F(LimitsTest, ReadsFilesOfRoot) {
  allow("0-15");
  root_.write("proc/self/cgroup", "0::/job\n");
  root_.write("sys/fs/cgroup/job/cpu.max", "350000 100000\n");
  root_.write("sys/fs/cgroup/job/cpu.stat", "usage_usec 5\nthrottled_usec 12500000\n");
  root_.write("sys/fs/cgroup/job/memory.max", "8589934592\n");
  root_.write(
      "proc/meminfo",
      "MemTotal: 67108864 kB\nMemAvailable: 1048576 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n");
  root_.write("proc/self/limits",
              "Limit                     Soft Limit           Hard Limit           Units     \n"
              "Max open files            1024                 4096                 files     \n"
              "Max locked memory         unlimited            unlimited            bytes     \n");
  root_.write("proc/stat", "cpu  50 0 20 20 0 0 0 10 0 0\n");
  root_.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  root_.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  options_.slurm_cpus = "8";
  const Outcome outcome = measure();
  EXPECT_EQ(value(outcome, "cpus"), 16);
  EXPECT_DOUBLE_EQ(value(outcome, "quota"), 3.5);
  EXPECT_DOUBLE_EQ(value(outcome, "throttled"), 12.5);
  EXPECT_EQ(value(outcome, "memory"), 8589934592.0);
  EXPECT_EQ(value(outcome, "open_files"), 1024);
  EXPECT_EQ(find(outcome, "memlock"), nullptr);  // unlimited
  EXPECT_EQ(value(outcome, "swap"), 2048 * 1024);
  EXPECT_EQ(value(outcome, "swap_used"), 1024 * 1024);
  EXPECT_DOUBLE_EQ(value(outcome, "steal"), 0.1);
  EXPECT_EQ(value(outcome, "slurm_cpus_per_task"), 8);
  EXPECT_FALSE(find(outcome, "throttled")->is_compared);
  const std::string said = joined(outcome.lines);
  for (const char* part :
       {"16 CPUs allowed", "quota 3.5 cores", "throttled 12.5 s", "memlock unlimited",
        "governor powersave", "huge pages madvise", "steal 10.0 % since boot"})
    EXPECT_THAT(said, HasSubstr(part));
  EXPECT_THAT(joined(outcome.notes), HasSubstr("SLURM_CPUS_PER_TASK says 8, and 16 CPUs may be"));
  EXPECT_THAT(joined(outcome.notes), HasSubstr("the quota lets 3.5 cores work on 16 CPUs"));
}

TEST_F(LimitsTest, ReadsFirstVersionOfCgroups) {
  allow("0-3");
  root_.write("proc/self/cgroup", "4:cpu,cpuacct:/job\n5:memory:/job\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "200000\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.stat",
              "nr_throttled 7\nthrottled_time 3000000000\n");
  const Outcome outcome = measure();
  EXPECT_DOUBLE_EQ(value(outcome, "quota"), 2);
  EXPECT_DOUBLE_EQ(value(outcome, "throttled"), 3);
}

TEST_F(LimitsTest, ReportsHiddenLimits) {
  const Outcome outcome = measure();
  EXPECT_TRUE(outcome.why_not.empty());
  EXPECT_THAT(
      joined(outcome.notes),
      HasSubstr("not to be seen here: the affinity, memory, /dev/shm, memlock, the limit of "
                "open files, steal"));
  EXPECT_THAT(outcome.figures, IsEmpty());
}

// /proc has no room for a file: as a disk that is full.
TEST(ProbedFolder, ReportsFullFolderInStorageRow) {
  const std::atomic<int> stop{0};
  const ProbedData data("", "/proc", 1 << 24, stop);
  EXPECT_THAT(data.why_none(), HasSubstr("--path /proc: 0 B are free there"));
  EXPECT_FALSE(data.is_written());
  const ProfileOptions options;
  const Cpus cpus = read_cpus("/");
  Outcome outcome;
  try {
    measure_storage({options, stop, cpus, data, monotonic_now() + kSecond}, outcome);
    ADD_FAILURE();
  } catch (const RunError& error) {
    EXPECT_EQ(error.what(), data.why_none());
  }
}

TEST(ProbedFolder, RejectsMissingFolder) {
  const std::atomic<int> stop{0};
  EXPECT_THROW(ProbedData("", "/proc/self/status", 1 << 24, stop), RunError);
  EXPECT_THROW(ProbedData("", "/nowhere", 1 << 24, stop), RunError);
}

TEST(StorageDevice, PicksMountWithLongestFolder) {
  const test::PretendRoot root;
  const source::TempFolder folder;
  const std::string file = folder.write("a.jpg");
  root.write("proc/self/mountinfo",
             "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
             "22 21 0:50 / " +
                 folder.path() +
                 " rw,relatime shared:1 - xfs /dev/nvme0n1p1 rw\n"
                 "23 21 0:51 / " +
                 folder.path() + "x rw - nfs4 server:/x rw\n");
  const StorageDevice device = find_storage_device(root.path(), file);
  EXPECT_EQ(device.type, "xfs");
  EXPECT_EQ(device.source, "/dev/nvme0n1p1");
}

// Both say of themselves that they turn.
TEST(StorageDevice, SeparatesVirtualFromRotationalDisks) {
  const test::PretendRoot root;
  const source::TempFolder folder;
  const std::string file = folder.write("a.jpg");
  root.write("proc/self/mountinfo", "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
  root.write("sys/dev/block/8:1/queue/rotational", "1\n");
  EXPECT_EQ(find_storage_device(root.path(), file).kind, "rotational disk");
  root.write("sys/devices/pci0/virtio1/block/vda/queue/rotational", "1\n");
  std::filesystem::create_symlink("../../devices/pci0/virtio1/block/vda",
                                  root.path() / "sys/dev/block/254:0");
  root.write("proc/self/mountinfo", "21 1 254:0 / / rw - ext4 /dev/vda rw\n");
  EXPECT_EQ(find_storage_device(root.path(), file).kind, "virtual disk");
}

TEST(Cpus, PicksOneCpuOfEachSetOfSiblings) {
  const test::PretendRoot root;
  const CpuSet all = allowed_cpus();
  for (const int cpu : all)
    root.write(
        "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
        std::to_string(all.front()) + "-" + std::to_string(all.back()) + "\n");
  EXPECT_THAT(read_cpus(root.path()).one_of_each_core, ElementsAre(all.front()));
}

TEST(Doublings, EndsWithMaximum) {
  EXPECT_THAT(doublings(1), ElementsAre(1));
  EXPECT_THAT(doublings(6), ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(doublings(8), ElementsAre(1, 2, 4, 8));
}

// --- demand of a job ---

Profile made_profile(const std::string& host, double link, double decode = 1000) {
  Profile profile;
  profile.host = host;
  profile.cores = 112;
  Outcome decoding, storage, gpu;
  decoding.figures = {{"per_core", "1/s", decode, 0.01, "110 kB"}};
  decoding.ceilings = {
      {.supply = MachineResource::decoding, .per_s = 112 * 890, .per_core_s = 890}};
  decoding.answer = "112 cores decode 99,680 images/s";
  storage.figures = {{"random_16", "bytes/s", 9e8, 0.02, "110 kB"}};
  storage.ceilings = {{.supply = MachineResource::storage, .per_s = 4e9, .sample_bytes = 110e3}};
  gpu.figures = {{"pinned_5", "bytes/s", link, 0.001, "64 MiB"}};
  gpu.ceilings = {{.supply = MachineResource::link, .per_s = 55e9, .gpus = 8}};
  profile.probes = {{"decode", decoding}, {"storage", storage}, {"gpu", gpu}};
  return profile;
}

// 8 x 1,786 = 14,288 samples/s: 16.05 cores of 890/s; 14,288 x 110 kB = 1.57 GB/s of 4; and for
// each GPU 1,786 / 256 x 154 MB = 1.074 GB/s of 55.
TEST(Demand, DividesNeedsByCapacity) {
  Profile profile = made_profile("a", 55e9);
  judge_demand(profile, {1786, 154'000'000, 256, 8});
  const DemandAnswer& answer = *profile.demand;
  ASSERT_EQ(answer.lines.size(), 4U);
  EXPECT_NEAR(answer.lines[0].needed, 16.05, 0.01);
  EXPECT_NEAR(answer.lines[0].share, 0.1433, 0.001);
  EXPECT_NEAR(answer.lines[1].needed, 1.5717e9, 1e6);
  EXPECT_THAT(answer.lines[2].sentence, HasSubstr("copying: it was not measured"));
  EXPECT_NEAR(answer.lines[3].needed, 1.0744e9, 1e6);
  EXPECT_THAT(answer.lines[3].sentence, HasSubstr("2.8 ms a batch"));
  EXPECT_TRUE(answer.is_met);
  EXPECT_EQ(answer.sentence,
            "enough for 8 x 1,786 samples/s: the most is taken of storage, 39.3 %");
}

TEST(Demand, NamesMissingResource) {
  Profile profile = made_profile("a", 55e9);
  profile.cores = 2;
  judge_demand(profile, {1786, 154'000'000, 256, 1});
  EXPECT_FALSE(profile.demand->is_met);
  EXPECT_EQ(profile.demand->sentence,
            "NOT ENOUGH for 1,786 samples/s: decoding needs 2.01 cores of 2 cores");
}

TEST(Demand, ReportsUnjudgedResources) {
  Profile profile = made_profile("a", 55e9);
  for (auto& [name, outcome] : profile.probes) {
    for (Ceiling& ceiling : outcome.ceilings) ceiling.sample_bytes = 0;
  }
  judge_demand(profile, {1786, 154'000'000, 256, 1});
  EXPECT_EQ(profile.demand->sentence,
            "cannot tell of 1,786 samples/s: storage is not judged (how many bytes a sample has is "
            "not known; give --data); of the others the most is taken of link, 2.0 %");
  EXPECT_FALSE(profile.demand->is_all_judged());
}

TEST(Demand, ReportsMissingMeasurements) {
  Profile profile;
  judge_demand(profile, {1786, 154'000'000, 256, 1});
  EXPECT_EQ(profile.demand->sentence, "what 1,786 samples/s need was not measured");
}

// --- comparison with peers ---

std::vector<Profile> fleet() {
  std::vector<Profile> peers;
  for (int i = 0; i < 10; ++i)
    peers.push_back(made_profile("node" + std::to_string(i), 55.1e9 + 0.03e9 * i, 1000 + i));
  return peers;
}

TEST(Against, ReportsLinkOfHalfWidth) {
  Profile profile = made_profile("bad", 26.9e9);
  judge_against(profile, fleet());
  const PeersAnswer& answer = *profile.against;
  EXPECT_EQ(answer.peers, 10);
  EXPECT_EQ(answer.compared, 3);
  ASSERT_EQ(answer.unlike.size(), 1U);
  EXPECT_EQ(answer.unlike[0].figure, "gpu.pinned_5");
  EXPECT_LT(answer.unlike[0].z, -10);
  EXPECT_DOUBLE_EQ(answer.unlike[0].least, 55.1e9);
  EXPECT_EQ(answer.sentence,
            "UNLIKE ITS PEERS: gpu.pinned_5 26.9 GB/s (peers 55.1 GB/s to 55.4 GB/s); all else "
            "within 0.4 %");
}

// The difference is 13 times the median deviation of 0.08 GB/s, but measurements are not that
// exact.
TEST(Against, AcceptsDifferencesWithinNoise) {
  Profile profile = made_profile("fine", 54.1e9);
  judge_against(profile, fleet());
  EXPECT_THAT(profile.against->unlike, IsEmpty());
  EXPECT_THAT(profile.against->sentence, HasSubstr("like its peers: 3 figures of 10 profiles"));
}

TEST(Against, IgnoresOneOddPeer) {
  std::vector<Profile> peers = fleet();
  peers.push_back(made_profile("odd", 5e9));
  Profile profile = made_profile("bad", 26.9e9);
  judge_against(profile, peers);
  EXPECT_EQ(profile.against->unlike.size(), 1U);
}

TEST(Against, AcceptsFigureIfThreePeersDifferMuch) {
  const std::vector<Profile> peers = {made_profile("a", 40e9), made_profile("b", 55e9),
                                      made_profile("c", 60e9)};
  Profile profile = made_profile("d", 30e9);
  judge_against(profile, peers);
  EXPECT_THAT(profile.against->unlike, IsEmpty());
}

TEST(Against, SkipsFiguresOfOtherConditions) {
  std::vector<Profile> peers = fleet();
  for (Profile& peer : peers) peer.probes[1].second.figures[0].condition = "2 MB";
  Profile profile = made_profile("a", 55.2e9);
  judge_against(profile, peers);
  EXPECT_EQ(profile.against->compared, 2);
  EXPECT_THAT(joined(profile.against->notes), HasSubstr("1 figure not compared"));
}

TEST(Against, UsesOwnProfilesWithoutPeers) {
  std::vector<Profile> past(3, made_profile("a", 55e9));
  Profile profile = made_profile("a", 55e9);
  judge_against(profile, past);
  EXPECT_TRUE(profile.against->is_own_past);
  EXPECT_THAT(profile.against->sentence, HasSubstr("like its own past"));
  for (const Profile& other : fleet()) past.push_back(other);
  judge_against(profile, past);
  EXPECT_EQ(profile.against->peers, 10);
  EXPECT_THAT(joined(profile.against->notes),
              HasSubstr("3 profiles of this machine itself left out"));
}

TEST(Against, RejectsTwoPeers) {
  Profile profile = made_profile("a", 55e9);
  const std::vector<Profile> peers = {made_profile("b", 55e9), made_profile("c", 55e9)};
  EXPECT_THROW(judge_against(profile, peers), UsageError);
}

// --- saved, and read back ---

std::string as_json(const Profile& profile) {
  std::ostringstream out;
  write_json(out, make_result(profile, "1.0"));
  return out.str();
}

TEST(SavedProfile, RestoresSameProfile) {
  Profile profile = made_profile("a", 55e9);
  profile.probes[0].second.notes = {"a note"};
  profile.probes[1].second.why_not = "there is none";
  judge_demand(profile, {1786, 154'000'000, 256, 8});
  judge_against(profile, fleet());
  std::istringstream one(as_json(profile));
  const std::vector<SavedProfile> saved = parse_profiles(one, "saved");
  ASSERT_EQ(saved.size(), 1U);
  EXPECT_EQ(as_json(saved[0].profile), as_json(profile));
  std::istringstream several("[" + as_json(profile) + "," + as_json(profile) + "]");
  EXPECT_EQ(parse_profiles(several, "saved").size(), 2U);
}

TEST(SavedProfile, RejectsAnotherSchemaInOneSentence) {
  std::istringstream input(R"({"schema": "loaderscope.run/1"})");
  try {
    parse_profiles(input, "fleet.json");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(),
                 "fleet.json: its schema is loaderscope.run/1, not loaderscope.probe/1; give what "
                 "'loaderscope probe --json FILE' saved");
  }
}

TEST(ProfileReport, WritesReasonOfSeveralRowsOnce) {
  Profile profile;
  for (const char* row : {"gpu", "jpeg-engines", "gpu-share"})
    profile.probes.emplace_back(row, Outcome{}).second.why_not = "built without CUDA";
  profile.probes[0].second.why_not = "there is no GPU";
  std::ostringstream out;
  find_row("table", report_table()).write(out, make_result(profile, "1.0"), {});
  EXPECT_THAT(out.str(), HasSubstr("No measurement of gpu: there is no GPU\n"));
  EXPECT_THAT(out.str(),
              HasSubstr("No measurement of jpeg-engines, gpu-share: built without CUDA\n"));
}

TEST(ProfileReport, SaysTheAnswersFirst) {
  Profile profile = made_profile("bad", 26.9e9);
  judge_against(profile, fleet());
  std::ostringstream out;
  find_row("table", report_table()).write(out, make_result(profile, "1.0"), {});
  EXPECT_THAT(out.str(), testing::StartsWith("UNLIKE ITS PEERS: gpu.pinned_5"));
  EXPECT_THAT(out.str(), HasSubstr("112 cores decode 99,680 images/s"));
}

}  // namespace
}  // namespace loaderscope::probe
