// Shards: which members are samples, and what is no shard.
#include "source/tar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "container_bytes.h"
#include "loaderscope/errors.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Tar : testing::Test {
  TempFolder data;

  std::unique_ptr<Source> open(const std::string& bytes, const FormatParameters& words = {}) {
    SourceOptions options = without_cache({data.write("0.tar", bytes)});
    options.words = words;
    return open_tar(options, {});
  }
  std::vector<std::string> samples(const std::string& bytes, const FormatParameters& words = {}) {
    const auto source = open(bytes, words);
    const auto reader = source->make_reader();
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < source->size(); ++i) {
      const auto read = reader->read(i);
      all.emplace_back(reinterpret_cast<const char*>(read.data()), read.size());
    }
    return all;
  }
  // All samples of a stream. A failed one is "!MEMBER".
  static std::vector<std::string> read_stream(const Source& source) {
    static SubstageListener unseen;
    const auto stream = source.streams()->make_stream({}, unseen);
    std::vector<std::string> all;
    stream->begin_epoch(0);
    for (;;) {
      try {
        const auto bytes = stream->next();
        if (!bytes) return all;
        all.emplace_back(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      } catch (const SampleError&) {
        const std::string place = stream->place();
        all.push_back("!" + place.substr(place.rfind(' ') + 1));
      }
    }
  }
  std::string why_not(const std::string& bytes, const FormatParameters& words = {}) {
    return error_message<RunError>([&] { open(bytes, words); });
  }
};

TEST(SampleName, SplitsAtFirstDotOfBaseName) {
  const auto name = sample_name("n0.1/0003.Seg.PNG");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->key, "n0.1/0003");
  EXPECT_EQ(name->extension, "seg.png");
  for (const std::string_view none : {"n01/README", "n01/.hidden", "__meta__", "a/__x__/1.jpg", ""})
    EXPECT_FALSE(sample_name(none)) << none;
  EXPECT_TRUE(sample_name("a__b/1.jpg"));
}

TEST_F(Tar, DecodesOneMemberPerSample) {
  TarBytes shard;
  shard.add("1.cls", "7").add("1.jpg", "one").add("1.png", "other");
  shard.add("2.json", "{}").add("3.jpg", "three").add("__note__", "x").add("d/", "", '5');
  EXPECT_THAT(samples(shard.finish()), ElementsAre("one", "three"));
  EXPECT_THAT(open(shard.finish())->notes(),
              ElementsAre("1 sample of the shards has no member to decode and is left out"));
  EXPECT_THAT(samples(shard.finish(), {{"member", "cls"}}), ElementsAre("7"));
  EXPECT_THAT(why_not(shard.finish(), {{"member", "mp4"}}), HasSubstr("holds no mp4 but cls, jpg"));
}

// The same rule as in webdataset: "duplicate file name in tar file", also for unwanted members.
TEST_F(Tar, ReportsSecondMemberOfSameName) {
  TarBytes shard;
  shard.add("1.jpg", "one").add("1.JPG", "again").add("2.jpg", "two").add("2.cls", "7");
  shard.add("2.cls", "8").add("1.jpg", "apart");
  EXPECT_THAT(samples(shard.finish()), ElementsAre("one", "two", "apart"));
  EXPECT_THAT(
      open(shard.finish())->notes(),
      ElementsAre(HasSubstr("2 members of the shards are not read, first of " + (data / "0.tar") +
                            ": 1.JPG is the second of its name in one")));
  const auto stream = open(shard.finish(), {{"stream", "1"}});
  EXPECT_THAT(read_stream(*stream), ElementsAre("one", "!1.JPG", "two", "!2.cls", "apart"));
}

// The GNU format, with a map that continues in two blocks, and the pax format.
TEST_F(Tar, ReportsSparseMembers) {
  TarBytes gnu;
  gnu.add("1.jpg", "one").add_sparse("2.jpg", "hole", 2).add("3.jpg", "three");
  EXPECT_THAT(samples(gnu.finish()), ElementsAre("one", "three"));
  EXPECT_THAT(open(gnu.finish())->notes(),
              ElementsAre(HasSubstr("1 member of the shards is not read, first of")));
  EXPECT_THAT(read_stream(*open(gnu.finish(), {{"stream", "1"}})),
              ElementsAre("one", "!2.jpg", "three"));
  TarBytes pax;
  pax.add("p", "22 GNU.sparse.major=1\n25 GNU.sparse.name=2.jpg\n", 'x');
  pax.add("GNUSparseFile.0/2.jpg", "1\n0\n4\nhole").add("3.jpg", "three");
  EXPECT_THAT(read_stream(*open(pax.finish(), {{"stream", "1"}})), ElementsAre("!2.jpg", "three"));
  EXPECT_THAT(samples(pax.finish()), ElementsAre("three"));
  EXPECT_THAT(samples(gnu.finish().substr(0, 1024 + 512)), ElementsAre("one"));
}

TEST_F(Tar, NamesSparseMemberIfNoOtherExists) {
  TarBytes shard;
  shard.add_sparse("2.jpg", "hole", 2).add("2.cls", "7");
  EXPECT_THAT(why_not(shard.finish()), HasSubstr("0.tar: 2.jpg is stored sparse (tar -S)"));
}

TEST_F(Tar, ReadsMemberWhoseNameMentionsSparse) {
  TarBytes shard;
  shard.add("p", "25 path=a/GNU.sparse.jpg\n", 'x').add("a/short", "one");
  EXPECT_THAT(samples(shard.finish(), {{"member", "sparse.jpg"}}), ElementsAre("one"));
}

TEST_F(Tar, RejectsShardWithoutMembers) {
  EXPECT_THAT(why_not(TarBytes().finish()), HasSubstr("0.tar: is empty: no member of it is named"));
}

// The index has the format of wds2idx, and its members are in the places that a walk finds.
TEST_F(Tar, ReadsIndexOfWds2idxInsteadOfShard) {
  TarBytes shard;
  shard.add("1.jpg", "one").add("1.cls", "7").add("d/2.seg.jpg", "two");
  const std::string bytes = shard.finish();
  const std::string index =
      "v1.2 2\njpg 512 3 1.jpg cls 1536 1 1.cls\nseg.jpg 2560 3 d/2.seg.jpg\n";
  data.write("0.tar", bytes);
  data.write("0.idx", index);
  EXPECT_FALSE(find_given_index(data / "0.tar").is_old);
  EXPECT_EQ(parse_given_index(index, std::ssize(bytes)).size(), 3U);
  const auto open_written = [&] { return open_tar(without_cache({data / "0.tar"}), {}); };
  EXPECT_EQ(open_written()->size(), 2);
  // The index names another member, which shows that it is read.
  data.write("0.idx", "v1.2 1\njpg 512 3 other.jpg\n");
  EXPECT_THAT(open_written()->describe(0), HasSubstr("0.tar: other.jpg"));
  // An index that is older than its shard is ignored, with a note.
  std::filesystem::last_write_time(
      data / "0.idx", std::filesystem::last_write_time(data / "0.tar") - std::chrono::seconds(9));
  EXPECT_THAT(open_written()->describe(0), HasSubstr("0.tar: 1.jpg"));
  EXPECT_THAT(open_written()->notes(),
              testing::Contains(HasSubstr("0.idx is older than its shard and not read; make it")));
}

// A list of shards in the format of webdataset's `widsindex create`.
struct TarList : Tar {
  std::string shard(const std::string& name, int samples) {
    TarBytes bytes;
    for (int i = 0; i < samples; ++i) bytes.add(std::to_string(i) + ".jpg", name);
    return data.write(name, bytes.finish());
  }
  std::unique_ptr<Source> list(const std::string& json) {
    return open_tar(without_cache({data.write("list.json", json)}), {});
  }
  std::string why_no_list(const std::string& json) {
    return error_message<RunError>([&] { list(json); });
  }
};

TEST_F(TarList, ReadsShardsOfWidsList) {
  std::filesystem::create_directory(data / "d");
  shard("0.tar", 2);
  const std::string other = shard("d/1.tar", 3);
  const auto list_json = [](const std::string& first, const std::string& rest) {
    return R"({"__kind__": "wids-shard-index-v1", "wids_version": 1, "shardlist": [{"url": ")" +
           first + R"(", "md5sum": "0", "nsamples": 2, "filesize": 1}])" + rest + "}";
  };
  const auto two = list(list_json("0.tar", R"(, "datasets": [{"base": "d", "shardlist":
      [{"url": "1.tar", "nsamples": 3}]}])"));
  EXPECT_EQ(two->size(), 5);
  EXPECT_EQ(two->describe(4), other + ": 2.jpg");
  EXPECT_THAT(two->notes(), IsEmpty());
  data.write("other.json", list_json(other, ""));
  const auto through = list(list_json("0.tar", R"(, "datasets": [{"source_url": "other.json"}])"));
  EXPECT_EQ(through->size(), 5);
  EXPECT_THAT(
      through->notes(),
      ElementsAre(HasSubstr("list.json says that its shards hold 4 samples, and they hold 5")));
  SourceOptions options = without_cache({data / "list.json"});
  options.words = {{"stream", "1"}};
  EXPECT_EQ(open_tar(options, {})->streams()->shards(), 2);
}

TEST_F(TarList, RejectsOtherContent) {
  EXPECT_THAT(why_no_list(""), HasSubstr("list.json: is no list of shards: it holds no object"));
  EXPECT_THAT(why_no_list("[]"), HasSubstr("holds no object"));
  EXPECT_THAT(why_no_list("{}"), HasSubstr("has no wids_version 1"));
  EXPECT_THAT(why_no_list(R"({"wids_version": 2, "shardlist": []})"),
              HasSubstr("no wids_version 1"));
  EXPECT_THAT(why_no_list(R"({"wids_version": 1, "shardlist": []})"), HasSubstr("lists no shards"));
  EXPECT_THAT(why_no_list(R"({"wids_version": 1, "shardlist": {}})"),
              HasSubstr("has something else instead of its shardlist"));
  EXPECT_THAT(why_no_list(R"({"wids_version": 1, "shardlist": [{"url": "0.tar"}]})"),
              HasSubstr("has no url or no nsamples in shard 1 of its list"));
  EXPECT_THAT(why_no_list(R"({"wids_version": 1, "shardlist": [{"url": "a", "nsamples": -1}]})"),
              HasSubstr("no nsamples"));
  for (const char* samples : {"9223372036854775807", "18446744073709551615", "281474976710656"}) {
    EXPECT_THAT(why_no_list(std::string(R"({"wids_version": 1, "shardlist": [
                    {"url": "a", "nsamples": 1}, {"url": "b", "nsamples": )") +
                            samples + "}]}"),
                HasSubstr("with shard 2 of its list it has more than 2^48 samples"));
  }
  EXPECT_THAT(why_no_list(R"({"wids_version": 1, "datasets": [7]})"),
              HasSubstr("among its datasets"));
  EXPECT_THAT(why_no_list(R"({"wids_version": 1,
      "shardlist": [{"url": "pipe://rm", "nsamples": 1}]})"),
              HasSubstr("names pipe://rm, which is no http(s):// and no s3://"));
  EXPECT_THAT(why_no_list(R"({"wids_version": )" + std::string(400'000, '[') +
                          std::string(400'000, ']') + "}"),
              HasSubstr("list.json: is nested deeper than 64 levels of JSON"));
  data.write("self.json", R"({"wids_version": 1, "datasets": [{"source_url": "self.json"}]})");
  EXPECT_THAT(why_no_list(R"({"wids_version": 1, "datasets": [{"source_url": "self.json"}]})"),
              HasSubstr("self.json: is named by a list and names another"));
  EXPECT_THAT(why_no_list(R"({"wids_version": 1, "shardlist": [{"url": "0.tar", "nsamples": 1}]})"),
              HasSubstr("0.tar"));
}

TEST_F(Tar, IgnoresIndexOfOtherContent) {
  TarBytes shard;
  shard.add("1.jpg", "one").add("2.jpg", "two");
  data.write("0.tar", shard.finish());
  for (const std::string index :
       {"", "v1.1 1\njpg 512 3\n", "v1.2 2\njpg 512 3 1.jpg\n", "v1.2 1\njpg 512 4 1.jpg\n",
        "v1.2 1\njpg 512 -3 1.jpg\n", "v1.2 1\njpg 512 9999999 1.jpg\n",
        "v1.2 1\njpg 500 3 1.jpg\n", "v1.2 1\njpg 0 3 1.jpg\n", "v1.2 1\njpg 512 3 a b.jpg\n",
        "v1.2 1\njpg 512 3\n", "v1.2 1\njpg 1024 3 1.jpg\n", "v1.2 0\n"}) {
    data.write("0.idx", index);
    EXPECT_EQ(open_tar(without_cache({data / "0.tar"}), {})->size(), 2) << index;
  }
}

TEST_F(Tar, ReadsLongNamesOfOtherWriters) {
  const std::string name = std::string(150, 'k') + ".jpg";
  TarBytes gnu;
  gnu.add("././@LongLink", name + '\0', 'L').add(name, "gnu").add("b.jpg", "b");
  EXPECT_THAT(samples(gnu.finish()), ElementsAre("gnu", "b"));
  EXPECT_THAT(open(gnu.finish())->describe(0), HasSubstr(name));
  TarBytes pax;
  pax.add("g", "19 comment=whatever\n", 'g');
  pax.add("PaxHeaders/x", "164 path=" + name + "\n", 'x').add("short", "pax").add("b.jpg", "b");
  EXPECT_THAT(samples(pax.finish()), ElementsAre("pax", "b"));
}

TEST_F(Tar, FailsOnlyForEmptySample) {
  TarBytes shard;
  shard.add("1.jpg", "").add("2.jpg", "two");
  const auto source = open(shard.finish());
  const auto reader = source->make_reader();
  EXPECT_THROW(reader->read(0), SampleError);
  EXPECT_EQ(reader->read(1).size(), 3U);
}

TEST_F(Tar, ReportsCutShard) {
  TarBytes shard;
  shard.add("1.jpg", "one").add("2.jpg", std::string(2000, 'x'));
  EXPECT_THAT(open(shard.finish())->notes(), IsEmpty());
  const auto source = open(shard.unfinished().substr(0, 2000));
  EXPECT_THAT(source->notes(), ElementsAre(HasSubstr("the shard ends without tar's end mark")));
  const auto reader = source->make_reader();
  EXPECT_EQ(reader->read(0).size(), 3U);
  EXPECT_EQ(error_message<SampleError>([&] { reader->read(1); }),
            "should end at byte 3536 of a file that has 2000");
}

TEST_F(Tar, RejectsFilesThatAreNoShard) {
  EXPECT_THAT(why_not(std::string("\x1f\x8b\x08", 3) + std::string(600, 'x')),
              HasSubstr("is compressed (gzip), so that no sample has a place of its own"));
  EXPECT_THAT(why_not(std::string(600, 'x')), HasSubstr("is no tar file"));
  EXPECT_THAT(why_not("short"), HasSubstr("is no tar file"));
  EXPECT_THAT(why_not(std::string(1024, '\0')), HasSubstr("0.tar: is empty"));
  TarBytes shard;
  shard.add("1.jpg", "one");
  EXPECT_THAT(why_not(shard.unfinished() + std::string(512, 'x')),
              HasSubstr("is damaged: no tar header at byte 1024"));
}

TEST_F(Tar, KeepsIndexUntilShardChanges) {
  SourceOptions options;
  options.cache_folder = data / "cache";
  options.paths = {data.write("shards/0.tar", TarBytes().add("1.jpg", "one").finish())};
  data.age();
  EXPECT_EQ(open_tar(options, {})->size(), 1);
  std::string kept;
  for (const auto& entry : std::filesystem::directory_iterator(data / "cache"))
    kept = entry.path().string();
  ASSERT_NE(kept, "");
  const auto written = std::filesystem::last_write_time(kept);
  EXPECT_EQ(open_tar(options, {})->size(), 1);
  EXPECT_EQ(std::filesystem::last_write_time(kept), written);
  data.write("shards/0.tar", TarBytes().add("1.jpg", "one").add("2.jpg", "two").finish());
  EXPECT_EQ(open_tar(options, {})->size(), 2);
}

}  // namespace
}  // namespace loaderscope::source
