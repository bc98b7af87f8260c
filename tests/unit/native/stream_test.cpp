// Streamed shards through the native engine: which samples come, how epochs end, what is said.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "dataset/make.h"
#include "loaderscope/errors.h"
#include "predict/fitted_model.h"
#include "unit/dataset/contents.h"
#include "unit/native/native_run.h"
#include "unit/source/container_bytes.h"
#include "unit/source/packed_bytes.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::native {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Times = std::map<std::uint64_t, int>;

struct StreamedRun {
  RunRecord record;
  std::vector<Delivered> batches;

  Times counts() const {
    Times counts;
    for (const Delivered& batch : batches)
      for (const std::uint64_t sample : batch.samples) ++counts[sample];
    return counts;
  }
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes;
    for (const Delivered& batch : batches) sizes.push_back(batch.samples.size());
    return sizes;
  }
};

constexpr source::Packing kNotPacked = {"", ".tar",
                                        [](std::string_view text) { return std::string(text); }};

// Shards of small images that are all different.
class Shards {
 public:
  explicit Shards(const std::vector<int>& samples, const source::Packing& packing = kNotPacked) {
    dataset::MakeOptions options;
    options.path = folder_ / "made";
    options.count = std::accumulate(samples.begin(), samples.end(), 0);
    options.size = {40, 30, 0};
    options.classes = 1;
    options.threads = 1;
    dataset::make_dataset(options, {});
    std::vector<std::string> images;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options.path))
      if (entry.path().extension() == ".jpg") images.push_back(entry.path().string());
    std::size_t next = 0;
    for (std::size_t s = 0; s < samples.size(); ++s) {
      source::TarBytes shard;
      for (int i = 0; i < samples[s]; ++i)
        shard.add(std::to_string(i) + ".jpg", dataset::file_content(images[next++]));
      folder_.write("tar/" + std::to_string(s) + std::string(packing.ending),
                    packing.pack(shard.finish()));
    }
  }
  std::string shard(int index) const { return folder_ / ("tar/" + std::to_string(index) + ".tar"); }
  StreamedRun load(const std::string& settings, const std::string& words = "stream=1",
                   std::size_t rank = 0) const {
    NotingDevices devices(kSampleBytes);
    StreamedRun result;
    result.record = run("data=tar:" + (folder_ / "tar") + "?" + words +
                            " size=16 transfer=u8 augment=resize-centre-crop "
                            "warmup=0 device=null " +
                            settings,
                        devices.context());
    result.batches = devices.delivered(rank);
    expect_closes(result.record);
    return result;
  }

 private:
  source::TempFolder folder_;
};

TEST(Streamed, DeliversSameSamplesAsIndexForAnyWorkers) {
  const Shards shards({9, 1, 14, 6, 10});
  const Times all = shards.load("batch=4 epochs=1 workers=1", "member=jpg").counts();
  ASSERT_EQ(all.size(), 40U);
  for (const char* how : {"workers=0", "workers=1", "workers=3", "workers=8 prefetch-factor=3",
                          "workers=3 in-order=false", "workers=2 executor=processes",
                          "workers=2 memory=pin-thread", "workers=7 executor=processes"}) {
    for (const char* words : {"stream=1", "stream=1&shuffle=7"}) {
      const StreamedRun result = shards.load("batch=4 epochs=1 " + std::string(how), words);
      EXPECT_EQ(result.counts(), all) << how << " " << words;
      EXPECT_EQ(result.record.ranks.front().samples, 40) << how << " " << words;
      EXPECT_EQ(result.record.lost_spans, 0);
    }
  }
}

TEST(Streamed, EndsEachStreamWithShortBatch) {
  const Shards shards({5, 8});
  EXPECT_THAT(shards.load("batch=4 epochs=1 workers=2").sizes(), ElementsAre(4, 4, 1, 4));
  EXPECT_THAT(shards.load("batch=4 epochs=1 workers=2 drop-last=true").sizes(),
              ElementsAre(4, 4, 4));
  EXPECT_THAT(shards.load("batch=4 epochs=1 workers=1").sizes(), ElementsAre(4, 4, 4, 1));
  EXPECT_THROW(shards.load("batch=40 epochs=1 workers=2 drop-last=true"), RunError);
}

TEST(Streamed, RepeatsSamplesInEachEpoch) {
  const Shards shards({5, 8, 3});
  for (const char* how : {"workers=0", "workers=2", "workers=2 persistent-workers=true",
                          "workers=2 executor=processes", "workers=5 in-order=false"}) {
    const StreamedRun result =
        shards.load("batch=4 epochs=3 " + std::string(how), "stream=1&shuffle=5");
    EXPECT_EQ(result.record.ranks.front().samples, 3 * 16) << how;
    for (const auto& [sample, times] : result.counts()) EXPECT_EQ(times, 3) << how;
  }
}

TEST(Streamed, DecompressesShardsInSeparateStage) {
  const Times all = Shards({9, 1, 14}).load("batch=4 epochs=1 workers=1").counts();
  for (const source::Packing& packing : source::packings()) {
    const Shards shards({9, 1, 14}, packing);
    for (const char* how : {"workers=0", "workers=2", "workers=3 executor=processes"}) {
      const RunRecord record = shards.load("batch=4 epochs=1 " + std::string(how)).record;
      EXPECT_EQ(shards.load("batch=4 epochs=1 " + std::string(how)).counts(), all) << how;
      const RankRecord& rank = record.ranks.front();
      EXPECT_GT(rank.stages[Stage::read_decompress].wall, 0) << how;
      EXPECT_LE(rank.stages[Stage::read_decompress].count, 24) << how;
      EXPECT_GE(rank.stages[Stage::read].count, 24) << how;  // and what found the end
      EXPECT_EQ(rank.stages[Stage::read].bytes, rank.read_bytes) << how;
      EXPECT_GT(value_of(record.metrics, "source.unpacked_per_byte"), 1.0) << how;
      EXPECT_THAT(record.details, Contains(Detail{"read.decompress", std::string(packing.row)}));
    }
  }
}

TEST(Streamed, BooksInjectedDelayToDecompression) {
  const RunRecord record =
      Shards({9}).load("batch=3 epochs=1 workers=1 inject=read.decompress=+2ms").record;
  const StageStats& part = record.ranks.front().stages[Stage::read_decompress];
  EXPECT_EQ(part.count, 9);
  EXPECT_GE(part.wall, 9 * 2 * kMillisecond);
  EXPECT_GE(part.cpu, 9 * kMillisecond);
}

TEST(Streamed, ReportsUnequalSharesOfRanks) {
  const Shards shards({5, 8, 3});
  const StreamedRun result = shards.load("batch=4 epochs=1 workers=2 ranks=2");
  EXPECT_EQ(result.record.ranks[0].samples, 8);
  EXPECT_EQ(result.record.ranks[1].samples, 8);
  EXPECT_THAT(result.record.notes, Not(Contains(HasSubstr("unequal"))));
  const Shards unequal({5, 8});
  EXPECT_THAT(
      unequal.load("batch=4 epochs=1 workers=1 ranks=2").record.notes,
      Contains(HasSubstr("unequal, of the samples of an epoch rank 0 had 5, rank 1 had 8")));
}

TEST(Streamed, ReportsMoreWorkersThanShards) {
  const Shards shards({5, 8});
  EXPECT_THAT(shards.load("batch=4 epochs=1 workers=3").record.notes,
              Contains("the data has 2 shards: of 3 workers 2 read, the others have nothing to "
                       "read"));
  EXPECT_THAT(shards.load("batch=4 epochs=1 workers=2").record.notes,
              Not(Contains(HasSubstr("nothing to read"))));
}

TEST(Streamed, CountsDamageAndContinues) {
  const Shards shards({5, 8});
  std::filesystem::resize_file(shards.shard(0), 1000);
  for (const char* how : {"workers=1", "workers=2 executor=processes"}) {
    const StreamedRun result = shards.load("batch=4 epochs=1 " + std::string(how));
    EXPECT_EQ(result.record.ranks.front().samples, 8) << how;
    EXPECT_EQ(result.record.skipped.samples, 1) << how;
    EXPECT_EQ(result.record.skipped.kind_counts.at("truncated"), 1) << how;
    ASSERT_EQ(result.record.skipped.first.size(), 1U) << how;
    EXPECT_THAT(result.record.skipped.first[0], HasSubstr("0.tar: 0.jpg: the shard ends after"));
  }
  EXPECT_THROW(shards.load("batch=4 epochs=1 workers=1 on-error=fail"), RunError);
}

TEST(Streamed, RejectsImpossibleSettings) {
  const Shards shards({5, 8});
  const auto refused = [&](const std::string& settings) {
    try {
      shards.load(settings);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refused("workers=2 task=sample"), HasSubstr("whole batches of their own shards"));
  EXPECT_THAT(refused("workers=2 samples=10"), HasSubstr("how many it has is known when it ends"));
  EXPECT_THAT(refused("workers=2 shuffle=true"), HasSubstr("stream=1&shuffle=1000"));
  EXPECT_THAT(refused("workers=2 prove=all"), HasSubstr("no samples are kept to be replayed"));
  EXPECT_THAT(refused("workers=2 ranks=3"), HasSubstr("2 shards for 3 ranks"));
  EXPECT_THAT(refused("workers=2 ranks=2 sync-ranks=true epochs=1"),
              HasSubstr("leave out --epochs"));
}

TEST(Streamed, PredictsWithinOneEpochOnly) {
  const Shards shards({60, 60});
  const RunRecord within = shards.load("batch=2 steps=24 workers=2 inject=read=+3ms").record;
  EXPECT_NO_THROW(FittedModel(within, nullptr));
  const RunRecord whole = shards.load("batch=2 epochs=1 workers=2").record;
  EXPECT_THROW(FittedModel(whole, nullptr), RunError);
}

}  // namespace
}  // namespace loaderscope::native
