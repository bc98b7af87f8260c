// Real images through the native engine: which samples come, how often, and with which bytes.
#include <algorithm>
#include <map>
#include <set>

#include "loaderscope/errors.h"
#include "unit/dataset/contents.h"
#include "unit/native/native_run.h"
#include "unit/native/photos.h"
#include "unit/source/container_bytes.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::native {
namespace {

using source::TempFolder;

struct Result {
  RunRecord record;
  std::vector<Delivered> batches;
  std::int64_t overwritten = 0;

  std::vector<std::uint64_t> samples() const {
    std::vector<std::uint64_t> all;
    for (const Delivered& batch : batches)
      all.insert(all.end(), batch.samples.begin(), batch.samples.end());
    return all;
  }
};

Result load_data(const std::string& settings, std::size_t rank = 0) {
  NotingDevices devices(kSampleBytes);
  Result result;
  result.record = run("warmup=0 device=null " + settings, devices.context());
  result.batches = devices.delivered(rank);
  result.overwritten = devices.overwritten();
  expect_closes(result.record);
  return result;
}

Result load(const Photos& photos, const std::string& settings, std::size_t rank = 0) {
  return load_data("data=" + photos.path() + " size=16 transfer=u8 " + settings, rank);
}

using Counts = std::map<std::uint64_t, int>;
Counts count_samples(const std::vector<std::uint64_t>& samples) {
  Counts counts;
  for (const std::uint64_t sample : samples) ++counts[sample];
  return counts;
}

std::vector<std::size_t> batch_sizes(const Result& result) {
  std::vector<std::size_t> sizes;
  for (const Delivered& batch : result.batches) sizes.push_back(batch.samples.size());
  return sizes;
}

TEST(RealData, ReadsSameBytesFromShards) {
  const Photos photos(20);
  source::TarBytes shard;
  for (int i = 0; i < 20; ++i)
    shard.add(std::to_string(i) + ".jpg", dataset::file_content(photos.image(i)));
  const TempFolder folder;
  const std::string tar = folder.write("0.tar", shard.finish());
  const std::string common = "batch=5 epochs=1 seed=3 workers=2 access=io-uring ";
  EXPECT_EQ(load_data("data=" + tar + " size=16 transfer=u8 " + common).samples(),
            load(photos, common).samples());
}

TEST(RealData, CopiesArraysUnchanged) {
  constexpr int kRows = 30;
  std::string rows;
  for (int i = 0; i < kRows; ++i) rows += std::string(kSampleBytes, static_cast<char>('A' + i));
  const TempFolder folder;
  const std::string npy = folder.write(
      "0.npy", source::npy_bytes("|u1", fmt::format("({}, {})", kRows, kSampleBytes), rows));
  const std::string common = "batch=4 epochs=1 shuffle=true data=" + npy + " ";
  const std::vector<std::uint64_t> expected = load_data(common + "workers=1").samples();
  EXPECT_EQ(count_samples(expected).size(), static_cast<std::size_t>(kRows));
  for (const std::string more :
       {"workers=3 task=sample access=io-uring", "workers=2 executor=processes", "workers=0"})
    EXPECT_EQ(load_data(common + more).samples(), expected) << more;
  EXPECT_EQ(load_data(common + "workers=2").record.config.data.delivered_bytes,
            static_cast<Bytes>(kSampleBytes));
}

TEST(RealData, RepeatsBytesOfSeedForAnyWorkers) {
  const Photos photos(37);
  const std::string common = "batch=5 epochs=2 shuffle=true seed=3 ";
  const std::vector<std::uint64_t> expected = load(photos, common + "workers=1").samples();
  ASSERT_EQ(expected.size(), 74U);
  for (const std::string more : {"workers=0",
                                 "workers=3",
                                 "workers=3 prefetch=1",
                                 "workers=3 persistent-workers=true",
                                 "workers=3 task=sample",
                                 "workers=2 task=sample prefetch-depth=1",
                                 "workers=2 memory=pin-thread",
                                 "workers=0 memory=pin-thread",
                                 "workers=2 memory=pageable",
                                 "workers=2 memory=registered",
                                 "workers=2 memory=write-combined",
                                 "workers=2 access=mmap",
                                 "workers=2 in-flight=1",
                                 "workers=2 access=direct",
                                 "workers=2 access=io-uring queue-depth=2",
                                 "workers=0 access=io-uring",
                                 "workers=2 task=sample access=io-uring",
                                 "workers=2 access=io-uring-direct",
                                 "workers=2 in-flight=5",
                                 "workers=2 cost=transport=100us:sleep",
                                 "workers=3 executor=processes",
                                 "workers=3 executor=processes persistent-workers=true",
                                 "workers=3 executor=processes task=sample",
                                 "workers=2 executor=processes memory=pin-thread",
                                 "workers=2 executor=processes memory=pageable",
                                 "workers=2 executor=processes memory=registered",
                                 "workers=2 executor=processes access=mmap",
                                 "workers=2 executor=processes access=direct",
                                 "workers=2 executor=processes access=io-uring",
                                 "workers=2 executor=processes mp-context=forkserver"}) {
    SCOPED_TRACE(more);
    const Result result = load(photos, common + more);
    EXPECT_EQ(result.samples(), expected);
    EXPECT_EQ(result.overwritten, 0);
  }
  // Batches come as they are finished if the order is free.
  for (const std::string more : {"workers=3 in-order=false", "workers=3 task=sample in-order=false",
                                 "workers=3 in-order=false memory=pin-thread",
                                 "workers=3 executor=processes in-order=false"}) {
    SCOPED_TRACE(more);
    const Result result = load(photos, common + more);
    EXPECT_EQ(count_samples(result.samples()), count_samples(expected));
    EXPECT_EQ(result.overwritten, 0);
  }
}

// Each sample counts with its batch, for any reader and any worker.
TEST(RealData, CountsWorkOfSamplesExactly) {
  const Photos photos(37);
  const std::string common = "batch=5 epochs=2 shuffle=true seed=3 ";
  const WorkCounts once = load(photos, common + "workers=1").record.ranks.front().work;
  EXPECT_EQ(once.opened, 74);
  EXPECT_GE(once.requests, 74);
  for (const std::string more : {"workers=0", "workers=3", "workers=3 task=sample",
                                 "workers=2 access=io-uring", "workers=2 executor=processes"}) {
    const WorkCounts again = load(photos, common + more).record.ranks.front().work;
    EXPECT_EQ(again.opened, once.opened) << more;
    EXPECT_EQ(again.requests, once.requests) << more;
  }
  const WorkCounts alike = load(photos, common + "workers=1").record.ranks.front().work;
  EXPECT_EQ(alike, once);
}

TEST(RealData, ChangesSamplesWithSeedAndEpoch) {
  const Photos photos(8);
  const std::vector<std::uint64_t> epochs =
      load(photos, "workers=1 batch=4 epochs=2 seed=3").samples();
  const std::vector<std::uint64_t> first(epochs.begin(), epochs.begin() + 8);
  const std::vector<std::uint64_t> second(epochs.begin() + 8, epochs.end());
  EXPECT_NE(first, second);
  EXPECT_NE(load(photos, "workers=1 batch=4 epochs=1 seed=4").samples(), first);
}

// A crop that does not depend on the epoch gives each image one content.
constexpr const char* kFixed = "augment=resize-centre-crop ";

TEST(RealData, DeliversEachSampleOncePerEpoch) {
  const Photos photos(23);
  for (const std::string more :
       {"workers=0", "workers=3", "workers=3 task=sample", "workers=3 in-order=false",
        "workers=3 shuffle=true", "workers=2 shuffle=true shuffle-buffer=7"}) {
    SCOPED_TRACE(more);
    const Result result = load(photos, std::string(kFixed) + "batch=4 epochs=3 " + more);
    const std::vector<std::uint64_t> samples = result.samples();
    ASSERT_EQ(samples.size(), 69U);
    for (std::size_t epoch = 0; epoch < 3; ++epoch) {
      const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(23 * epoch);
      EXPECT_EQ(count_samples({begin, begin + 23}).size(), 23U) << "epoch " << epoch;
    }
    EXPECT_EQ(result.record.ranks[0].samples, 69);
    EXPECT_EQ(result.record.skipped.samples, 0);
  }
}

TEST(RealData, DividesEpochBetweenRanks) {
  const Photos photos(12);
  NotingDevices devices(kSampleBytes);
  run("data=" + photos.path() +
          " size=16 transfer=u8 warmup=0 device=null ranks=3 workers=2 "
          "batch=3 epochs=1 shuffle=true " +
          kFixed,
      devices.context());
  Counts all;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    for (const Delivered& batch : devices.delivered(rank)) {
      for (const std::uint64_t sample : batch.samples) ++all[sample];
    }
  }
  EXPECT_EQ(all.size(), 12U);
  for (const auto& [sample, count] : all) EXPECT_EQ(count, 1);
}

TEST(RealData, ShortensOrDropsLastBatch) {
  const Photos photos(11);
  using Sizes = std::vector<std::size_t>;
  for (const std::string more : {"workers=0", "workers=2", "workers=2 task=sample"}) {
    SCOPED_TRACE(more);
    EXPECT_EQ(batch_sizes(load(photos, "batch=4 epochs=2 " + more)), (Sizes{4, 4, 3, 4, 4, 3}));
    EXPECT_EQ(batch_sizes(load(photos, "batch=4 epochs=2 drop-last=true " + more)),
              (Sizes{4, 4, 4, 4}));
    EXPECT_EQ(batch_sizes(load(photos, "batch=64 epochs=2 " + more)), (Sizes{11, 11}));
    EXPECT_EQ(batch_sizes(load(photos, "batch=4 samples=6 epochs=1 " + more)), (Sizes{4, 2}));
  }
  EXPECT_THROW(load(photos, "batch=64 drop-last=true epochs=1 workers=2"), UsageError);
}

TEST(RealData, RunsWithOneSample) {
  const Photos photos(1);
  for (const std::string more : {"workers=0", "workers=4", "workers=4 task=sample"}) {
    SCOPED_TRACE(more);
    EXPECT_EQ(batch_sizes(load(photos, "batch=64 epochs=3 " + more)),
              (std::vector<std::size_t>{1, 1, 1}));
  }
}

TEST(RealData, RejectsEmptyDataSet) {
  const Photos photos(1);
  std::filesystem::remove(photos.image(0));
  EXPECT_THROW(load(photos, "workers=2 epochs=1"), RunError);
}

TEST(RealData, LimitsSamplesToDataSet) {
  const Photos photos(6);
  const Result result = load(photos, std::string(kFixed) + "batch=3 epochs=1 samples=100");
  EXPECT_EQ(result.samples().size(), 6U);
  ASSERT_FALSE(result.record.notes.empty());
  EXPECT_EQ(result.record.notes.front(), "samples = 100: the data has 6, an epoch is all of them");
}

// Samples 2 and 3 are damaged: sample 4 replaces both, in every epoch. Sample 0 replaces the last
// one.
TEST(RealData, ReplacesDamagedSampleByNextGoodOne) {
  const Photos photos(9);
  const std::string settings = std::string(kFixed) + "batch=3 epochs=2 ";
  const std::vector<std::uint64_t> whole = load(photos, settings + "workers=1").samples();
  photos.damage(2);
  photos.damage(3);
  photos.damage(8);
  for (const std::string more :
       {"workers=0", "workers=3", "workers=3 task=sample", "workers=2 access=mmap",
        "workers=2 access=io-uring", "workers=2 access=direct", "workers=3 executor=processes",
        "workers=3 executor=processes task=sample"}) {
    SCOPED_TRACE(more);
    const Result result = load(photos, settings + more);
    std::vector<std::uint64_t> expected;
    for (const int i : {0, 1, 4, 4, 4, 5, 6, 7, 0})
      expected.push_back(whole[static_cast<std::size_t>(i)]);
    expected.insert(expected.end(), expected.begin(), expected.begin() + 9);
    EXPECT_EQ(result.samples(), expected);
    const SkippedSamples& skipped = result.record.skipped;
    EXPECT_EQ(skipped.samples, 6);
    EXPECT_EQ(skipped.kind_counts, (std::map<std::string, std::int64_t>{{"truncated", 6}}));
    ASSERT_EQ(skipped.first.size(), 3U);
    std::set<std::string> named;
    for (const std::string& sentence : skipped.first)
      named.insert(sentence.substr(0, sentence.find(": ")));
    EXPECT_EQ(named, (std::set<std::string>{photos.image(2), photos.image(3), photos.image(8)}));
  }
}

TEST(RealData, CountsKindsOfDamageSeparately) {
  const Photos photos(4);
  photos.damage(0);
  photos.add("1zero.jpg", "");
  photos.add("2text.jpg", "this is no image at all, whatever its name says");
  std::filesystem::create_directory(photos.path() + "/3folder.jpg");
  const Result result = load(photos, std::string(kFixed) + "batch=4 epochs=1 workers=2");
  EXPECT_EQ(result.record.skipped.kind_counts.count("truncated"), 1U);
  EXPECT_EQ(result.record.skipped.kind_counts.count("unsupported"), 1U);
  EXPECT_GE(result.record.skipped.samples, 3);
  EXPECT_EQ(count_samples(result.samples()).size(), 3U);
}

TEST(RealData, FailsOnDamagedSampleIfRequested) {
  const Photos photos(9);
  photos.damage(4);
  for (const std::string more :
       {"workers=0", "workers=3", "workers=3 task=sample", "workers=3 executor=processes",
        "workers=2 executor=processes task=sample"}) {
    SCOPED_TRACE(more);
    try {
      load(photos, "batch=3 on-error=fail " + more);
      ADD_FAILURE();
    } catch (const RunError& error) {
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with(photos.image(4) + ": ")) << text;
      EXPECT_NE(text.find("--on-error skip"), text.npos) << text;
    }
  }
}

TEST(RealData, ReportsUnusableDataSetInOneSentence) {
  const Photos photos(3);
  for (int i = 0; i < 3; ++i) photos.damage(i);
  for (const std::string more : {"workers=0", "workers=3", "workers=3 task=sample",
                                 "workers=2 ranks=2", "workers=2 executor=processes ranks=2"}) {
    SCOPED_TRACE(more);
    try {
      load(photos, "batch=3 " + more);
      ADD_FAILURE();
    } catch (const RunError& error) {
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with(
          "none of the 3 samples can be used, the first because of this: " + photos.path()))
          << text;
      EXPECT_EQ(text.find('\n'), text.npos);
    }
  }
}

// Slots are written again only when their step has computed, also while the device is slow.
TEST(RealData, KeepsMemoryUntilStepHasComputed) {
  const Photos photos(20);
  NotingDevices devices(kSampleBytes);
  for (const std::string more :
       {"in-flight=1", "in-flight=3", "copy=stream", "copy=sync", "memory=pin-thread",
        "memory=pageable", "task=sample", "in-order=false", "ranks=2 sync-ranks=true",
        "executor=processes", "executor=processes memory=pin-thread"}) {
    SCOPED_TRACE(more);
    const RunRecord record = run("data=" + photos.path() +
                                     " size=16 transfer=u8 warmup=0 device=sim compute=1ms "
                                     "workers=3 prefetch=1 batch=2 epochs=2 link=1/0.5 " +
                                     more,
                                 devices.context());
    expect_closes(record);
    EXPECT_EQ(devices.overwritten(), 0);
  }
}

}  // namespace
}  // namespace loaderscope::native
