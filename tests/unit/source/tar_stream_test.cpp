// Shards as streams: whose samples they are, in which order, and what becomes of damaged ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "container_bytes.h"
#include "loaderscope/errors.h"
#include "packed_bytes.h"
#include "source/tar.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Strings = std::vector<std::string>;

SubstageListener unused_listener;

struct TarStreams : testing::Test {
  TempFolder data;

  // Shard s holds the samples "s.0", "s.1", ...
  void write_shards(const std::vector<int>& samples) const {
    for (std::size_t s = 0; s < samples.size(); ++s) {
      TarBytes shard;
      for (int i = 0; i < samples[s]; ++i) {
        const std::string name = std::to_string(s) + "." + std::to_string(i);
        shard.add(std::to_string(i) + ".cls", "7").add(std::to_string(i) + ".jpg", name);
      }
      data.write(std::to_string(s) + ".tar", shard.finish());
    }
  }
  std::string shard(int index) const { return data / (std::to_string(index) + ".tar"); }

  std::unique_ptr<Source> open(FormatParameters words = {}) const {
    SourceOptions options = without_cache({data.path()});
    words.emplace("stream", "1");
    options.words = words;
    return open_tar(options, {});
  }
  // All samples of an epoch. A failed one is "!PLACE WHY".
  static Strings read_epoch(SampleStream& stream, std::int64_t epoch) {
    Strings all;
    stream.begin_epoch(epoch);
    for (;;) {
      try {
        const auto bytes = stream.next();
        if (!bytes) return all;
        all.emplace_back(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      } catch (const SampleError& error) {
        all.push_back("!" + stream.place() + " " + error.what());
      }
    }
  }
  static Strings read(const Source& source, const StreamConsumer& part = {},
                      std::int64_t epoch = 0) {
    return read_epoch(*source.streams()->make_stream(part, unused_listener), epoch);
  }
};

TEST_F(TarStreams, ReadsShardsInOrder) {
  write_shards({2, 3});
  const auto source = open();
  EXPECT_THAT(read(*source), ElementsAre("0.0", "0.1", "1.0", "1.1", "1.2"));
  EXPECT_EQ(source->size(), Source::kUnknownSize);
  EXPECT_EQ(source->make_reader(), nullptr);
  EXPECT_EQ(source->streams()->shards(), 2);
  EXPECT_EQ(source->stored_objects()->objects(), 2);
}

TEST_F(TarStreams, GivesEverySampleToExactlyOneStream) {
  write_shards({4, 0, 7, 1, 150, 2, 3});
  for (const char* buffer : {"0", "1", "3", "100", "1000"}) {
    const auto source = open({{"shuffle", buffer}});
    for (const auto& [ranks, workers] : {std::pair{1, 1}, {1, 3}, {2, 2}, {3, 1}, {2, 8}}) {
      Strings all;
      std::set<std::int64_t> numbers;
      for (int rank = 0; rank < ranks; ++rank) {
        for (int worker = 0; worker < workers; ++worker) {
          const auto stream =
              source->streams()->make_stream({rank, ranks, worker, workers, 42}, unused_listener);
          read_epoch(*stream, 0);  // another epoch is whole, too
          stream->begin_epoch(1);
          while (const auto bytes = stream->next()) {
            all.emplace_back(reinterpret_cast<const char*>(bytes->data()), bytes->size());
            EXPECT_TRUE(numbers.insert(stream->sample()).second);
          }
        }
      }
      EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 167U);
      EXPECT_EQ(all.size(), 167U) << buffer << " " << ranks << "x" << workers;
    }
  }
}

TEST_F(TarStreams, SplitsShardsByRankAndThenByWorker) {
  write_shards({1, 1, 1, 1, 1, 1});
  const auto source = open();
  EXPECT_THAT(read(*source, {0, 2, 0, 2, 0}), ElementsAre("0.0", "4.0"));
  EXPECT_THAT(read(*source, {1, 2, 0, 2, 0}), ElementsAre("1.0", "5.0"));
  EXPECT_THAT(read(*source, {0, 2, 1, 2, 0}), ElementsAre("2.0"));
  EXPECT_THAT(read(*source, {0, 1, 7, 8, 0}), IsEmpty());
}

TEST_F(TarStreams, ShufflesByEpochSeedAndConsumer) {
  write_shards({30, 30, 30, 30, 30, 30, 30, 30});
  const auto source = open({{"shuffle", "40"}});
  const auto stream = source->streams()->make_stream({0, 1, 0, 1, 5}, unused_listener);
  const Strings first = read_epoch(*stream, 0), second = read_epoch(*stream, 1);
  EXPECT_EQ(read_epoch(*stream, 0), first);
  EXPECT_EQ(read(*source, {0, 1, 0, 1, 5}, 1), second);
  EXPECT_NE(first, second);
  EXPECT_NE(read(*source, {0, 1, 0, 1, 6}, 0), first);
  // The first samples come from the first shards of the order, which are within the buffer's reach.
  std::set<char> shards;
  for (std::size_t i = 0; i < 10; ++i) shards.insert(first[i].front());
  EXPECT_LE(shards.size(), 3U);
  EXPECT_GE(shards.size(), 1U);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.begin() + 30));
}

TEST_F(TarStreams, NamesDamageAndContinuesWithNextShard) {
  write_shards({3, 3, 3});
  std::filesystem::resize_file(shard(0), 2 * 2048 + 512 + 512 + 512 + 1);  // cuts the data of 0.2
  const auto source = open();
  EXPECT_THAT(source->notes(), ElementsAre(HasSubstr("may be cut short")));
  const Strings all = read(*source);
  ASSERT_EQ(all.size(), 9U);
  EXPECT_THAT(all[2], HasSubstr("0.tar: 2.jpg the shard ends after 1 of its 3 bytes"));
  EXPECT_EQ(all[3], "1.0");

  {
    std::fstream file(shard(1), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(2048 + 10);
    file << "xyz";
  }
  std::filesystem::remove(shard(2));
  for (const char* buffer : {"0", "4"}) {
    const Strings left = read(*open({{"shuffle", buffer}}));
    EXPECT_EQ(std::count_if(left.begin(), left.end(),
                            [](const std::string& text) { return text.starts_with("!"); }),
              2);
    EXPECT_THAT(left, testing::Contains(HasSubstr("1.tar is damaged: no tar header at byte 2048")));
  }
}

TEST_F(TarStreams, SkipsOnlyEmptyAndTooLargeSamples) {
  TarBytes bytes;
  bytes.add("1.jpg", "").add("2.jpg", std::string(300, 'x')).add("3.jpg", "three");
  data.write("0.tar", bytes.finish());
  SourceOptions options = without_cache({data.path()});
  options.words = {{"stream", "1"}};
  options.largest_sample = 100;
  const Strings all = read(*open_tar(options, {}));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[0], HasSubstr("1.jpg is empty"));
  EXPECT_THAT(all[1], HasSubstr("2.jpg has 300 bytes, more than the 100"));
  EXPECT_EQ(all[2], "three");
}

TEST_F(TarStreams, NamesUnreadableShardOnce) {
  const std::string unreadable = "/proc/self/mem";  // unreadable at offset 0
  SourceOptions options =
      without_cache({data.write("0.tar", TarBytes().add("1.jpg", "one").finish()), unreadable});
  options.words = {{"stream", "1"}};
  EXPECT_THAT(read(*open_tar(options, {})), ElementsAre("one", HasSubstr("!" + unreadable)));
}

TEST_F(TarStreams, ReadsLargeSamplesWhole) {
  TarBytes bytes;
  std::string large;
  for (int i = 0; i < 900'000; ++i) large += static_cast<char>(i * 31 % 251);
  for (int i = 0; i < 4; ++i)
    bytes.add(std::to_string(i) + ".jpg", large.substr(static_cast<std::size_t>(i * 1000)));
  data.write("0.tar", bytes.finish());
  const Strings all = read(*open());
  ASSERT_EQ(all.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(all[i] == large.substr(i * 1000)) << i;
}

TEST_F(TarStreams, RejectsOtherDataBeforeWorkersStart) {
  TarBytes none;
  none.add("1.mp4", "film");
  data.write("0.tar", none.finish());
  EXPECT_THAT(error_message<RunError>([&] { open(); }), HasSubstr("holds no images but mp4"));
  EXPECT_THAT(read(*open({{"member", "mp4"}})), ElementsAre("film"));
  EXPECT_THAT(error_message<UsageError>([&] {
                open({{"shuffle", "many"}});
              }),
              HasSubstr("shuffle"));
  data.write("0.tar", std::string(2000, 'x'));
  EXPECT_THAT(error_message<RunError>([&] { open(); }), HasSubstr("is no tar file"));
  SourceOptions options = without_cache({data.path()});
  options.words = {{"shuffle", "5"}};
  EXPECT_THAT(error_message<UsageError>([&] { open_tar(options, {}); }), HasSubstr("stream=1"));
}

// Streams of compressed shards.
struct PackedTarStreams : TarStreams {
  static std::string message_of_opening(const std::string& path, const FormatParameters& words) {
    SourceOptions options = without_cache({path});
    options.words = words;
    return error_message<RunError>([&] { open_tar(options, {}); });
  }
};

TEST_F(PackedTarStreams, ReadsPackedShardsUnderAnyName) {
  int next = 0;
  for (const Packing& packing : packings()) {
    for (const std::string& name : {std::string(packing.ending), std::string(".tar")}) {
      TarBytes shard;
      for (const char* key : {"a", "b"})
        shard.add(key + std::string(".cls"), "7").add(key + std::string(".jpg"), key + name);
      data.write(std::to_string(next++) + name, packing.pack(shard.finish()));
    }
  }
  data.write(std::to_string(next) + ".tar", TarBytes().add("1.jpg", "plain").finish());
  const auto source = open();
  EXPECT_THAT(source->notes(), IsEmpty());  // no shard is reported as cut
  Strings expected;
  for (const Packing& packing : packings()) {
    for (const std::string& name : {std::string(packing.ending), std::string(".tar")})
      expected.insert(expected.end(), {"a" + name, "b" + name});
  }
  expected.emplace_back("plain");
  EXPECT_EQ(read(*source), expected);
  EXPECT_EQ(source->streams()->shards(), std::ssize(expected) / 2 + 1);
}

TEST_F(PackedTarStreams, CountsStoredBytesOfShard) {
  for (const Packing& packing : packings()) {
    const TempFolder folder;
    TarBytes shard;
    for (int i = 0; i < 20; ++i) shard.add(std::to_string(i) + ".jpg", std::string(100'000, 'x'));
    const std::string packed = packing.pack(shard.finish());
    SourceOptions options =
        without_cache({folder.write("0" + std::string(packing.ending), packed)});
    options.words = {{"stream", "1"}, {"shuffle", "3"}};
    const auto source = open_tar(options, {});
    const auto stream = source->streams()->make_stream({}, unused_listener);
    Bytes stored = 0, samples = 0;
    stream->begin_epoch(0);
    for (; stream->next(); ++samples) stored += stream->stored_bytes();
    EXPECT_EQ(samples, 20);
    EXPECT_GT(stored, std::ssize(packed) / 2) << packing.row;
    EXPECT_LE(stored, std::ssize(packed)) << packing.row;
    EXPECT_EQ(value_of(source->metrics(), "source.bytes_brought"),
              static_cast<double>(packed.size()));
    EXPECT_EQ(value_of(source->metrics(), "source.bytes_of_samples"), 2e6);
  }
}

TEST_F(PackedTarStreams, NamesDamagedShardOnceAndContinues) {
  for (const Packing& packing : packings()) {
    const TempFolder folder;
    std::string noise;
    for (unsigned i = 1; noise.size() < 300'000; i = i * 1664525 + 1013904223)
      noise += static_cast<char>(i >> 24);
    TarBytes shard;
    for (int i = 0; i < 4; ++i) shard.add(std::to_string(i) + ".jpg", noise);
    const std::string packed = packing.pack(shard.finish());
    std::string damaged = packed;
    damaged[damaged.size() - 3] = static_cast<char>(damaged[damaged.size() - 3] ^ 1);
    const std::string ending(packing.ending);
    folder.write("0" + ending, packed.substr(0, packed.size() / 2));
    folder.write("1" + ending, damaged);
    folder.write("2" + ending, packed);
    SourceOptions options = without_cache({folder.path()});
    options.words = {{"stream", "1"}};
    Strings bad;
    std::size_t good = 0;
    for (const std::string& text : read(*open_tar(options, {}))) {
      if (text.starts_with("!")) bad.push_back(text);
      good += text == noise ? 1U : 0U;
    }
    EXPECT_GE(good, 4U + 4U);
    EXPECT_THAT(bad, ElementsAre(HasSubstr("the shard"), HasSubstr("1" + ending + " its ")))
        << packing.row;
    EXPECT_THAT(bad[1], HasSubstr("data are damaged: "));
  }
}

TEST_F(PackedTarStreams, RejectsShardsWithoutIndexOrUnpackerBeforeTheRun) {
  for (const Packing& packing : packings()) {
    const std::string path = data.write("0" + std::string(packing.ending),
                                        packing.pack(TarBytes().add("1.jpg", "one").finish()));
    EXPECT_THAT(message_of_opening(path, {}),
                HasSubstr("so that no sample has a place of its own; read it as a stream, "
                          "tar:PATH?stream=1, or unpack it with "));
    data.write("cut.tar", packing.pack(TarBytes().finish()) + "something else");
    EXPECT_THAT(message_of_opening(data / "cut.tar", {{"stream", "1"}}),
                HasSubstr("data are damaged"));
  }
  const std::string path =
      data.write("0.tar.xz", std::string("\xfd") + "7zXZ" + std::string(600, 'x'));
  EXPECT_THAT(message_of_opening(path, {}),
              HasSubstr("is compressed (xz), so that no sample has a place of its own; unpack it"));
  EXPECT_THAT(message_of_opening(path, {{"stream", "1"}}),
              HasSubstr("is compressed (xz): it is recognised and not read; pack with zstd "
                        "instead, or unpack it with unxz"));
}

}  // namespace
}  // namespace loaderscope::source
