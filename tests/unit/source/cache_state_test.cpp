// cold and warm: brought about on real files, and said honestly where that cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "source/cache_state.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::HasSubstr;

struct CacheTest : testing::TestWithParam<ResidencyMethod> {
  TempFolder data;
  std::unique_ptr<FileSource> files;
  CacheOptions options;

  CacheTest() {
    for (int i = 0; i < 20; ++i) {
      data.write("a/" + std::to_string(i) + ".jpg", std::string(10'000, 'x'));
    }
    files = open_files(without_cache({data.path()}));
    options.method = GetParam();
  }
  void SetUp() override {
    if (find_file_system(data.path()).memory_only || find_file_system(data.path()).network) {
      GTEST_SKIP() << "the temporary folder lies on " << find_file_system(data.path()).name;
    }
    const Fd fd(::open(files->describe(0).c_str(), O_RDONLY));
    if (!read_residency(fd, GetParam()) || best_residency_method() > GetParam()) {
      GTEST_SKIP() << "this kernel does not tell by " << name_of(GetParam());
    }
  }
  CacheProof prepare(CacheState mode) {
    options.mode = mode;
    return prepare_cache(*files, options);
  }
};

TEST_P(CacheTest, EvictsRecentWritesForCold) {
  const CacheProof cold = prepare(CacheState::cold);
  EXPECT_EQ(cold.bytes_checked, 200'000);
  EXPECT_EQ(cold.bytes_total, 200'000);
  EXPECT_EQ(cold.resident_before, 200'000);
  EXPECT_EQ(cold.resident_after, 0);
  EXPECT_TRUE(cold.proved);
  EXPECT_EQ(cold.sentence,
            "0.0 % of the bytes of all 20 files are in the page cache at the start (" +
                cold.method + "; 100.0 % before)");
}

// The first progress report comes while the file is read, or before.
TEST_P(CacheTest, EndsWarmingWithinFileOnStop) {
  constexpr Bytes kBytes = Bytes{2} << 30;  // a hole, which takes no disk
  std::filesystem::resize_file(data.write("b/0.jpg"), kBytes);
  files = open_files(without_cache({data / "b"}));
  options.mode = CacheState::warm;
  options.memory_bytes = 2 * kBytes;
  std::atomic<int> stop{0};
  SourceContext context;
  context.stop_signal = &stop;
  context.on_progress = [&](const auto& progress) {
    if (progress.doing == "warming the page cache") stop = SIGINT;
  };
  EXPECT_THROW(prepare_cache(*files, options, context), RunError);
  const Fd fd(::open(files->describe(0).c_str(), O_RDONLY));
  EXPECT_LT(read_residency(fd, GetParam())->resident, kBytes);
}

TEST_P(CacheTest, ReadsAllForWarmAndNothingForAsIs) {
  prepare(CacheState::cold);
  EXPECT_EQ(prepare(CacheState::as_is).resident_after, 0);
  const CacheProof warm = prepare(CacheState::warm);
  EXPECT_EQ(warm.resident_before, 0);
  EXPECT_EQ(warm.resident_after, 200'000);
  EXPECT_TRUE(warm.proved);
  EXPECT_EQ(prepare(CacheState::as_is).resident_after, 200'000);
}

TEST_P(CacheTest, ReportsTooLittleMemoryForWarm) {
  prepare(CacheState::cold);
  options.memory_bytes = 100'000;
  const CacheProof warm = prepare(CacheState::warm);
  EXPECT_FALSE(warm.proved);
  EXPECT_THAT(warm.sentence, HasSubstr("do not fit into 100 KB of memory"));
}

TEST_P(CacheTest, ReportsSampledFiles) {
  options.most_checked = 5;
  std::filesystem::remove(files->describe(3));
  const CacheProof cold = prepare(CacheState::cold);
  EXPECT_EQ(cold.files_checked, 5);
  EXPECT_THAT(cold.sentence, HasSubstr("of 20 files, drawn at random"));
}

INSTANTIATE_TEST_SUITE_P(Methods, CacheTest,
                         testing::Values(ResidencyMethod::cachestat, ResidencyMethod::mincore),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST(CacheProof, ClaimsNothingAboutCacheOfServer) {
  EXPECT_EQ(file_system_of_type(0x6969).name, "NFS");
  EXPECT_TRUE(file_system_of_type(static_cast<long>(0xff534d42)).network);
  EXPECT_EQ(file_system_of_type(0xEF53).name, "");
  CacheProof proof;
  proof.mode = CacheState::cold;
  proof.method = "cachestat";
  proof.proved = true;
  EXPECT_THAT(describe_cache(proof, file_system_of_type(0x0bd00bd0), 0),
              HasSubstr("a server's cache cannot be seen (Lustre)"));
  proof.proved = false;
  proof.resident_after = proof.bytes_checked = 4096;
  proof.files = proof.files_checked = 1;
  EXPECT_THAT(describe_cache(proof, {"tmpfs", false, true}, 0),
              HasSubstr("bytes of 1 file are in the page cache at the start (cachestat; 0.0 % "
                        "before): not cold, a tmpfs lies in memory"));
  proof.method = "none";
  EXPECT_THAT(describe_cache(proof, {}, 0), HasSubstr("is not known"));
  proof.method = "cachestat";
  proof.bytes_checked = 0;
  EXPECT_THAT(describe_cache(proof, {}, 0), HasSubstr("is not known"));
}

TEST(CacheProof, StopsOnSignal) {
  const TempFolder data;
  data.write("1.jpg");
  const auto files = open_files(without_cache({data.path()}));
  const std::atomic<int> stop{2};
  EXPECT_THROW(prepare_cache(*files, {}, {nullptr, &stop}), RunError);
}

}  // namespace
}  // namespace loaderscope::source
