// loaderscope data make and data info, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

Words make(const std::string& path, const Words& more = {}) {
  Words words = {"data", "make", path, "--size", "40x30", "--classes", "2"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::int64_t count_images(const std::string& path) {
  const Ended ended = run_binary({"data", "info", path, "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return json::parse(ended.out).at("images").get<std::int64_t>();
}

std::int64_t files_below(const std::string& path) {
  std::error_code none;
  return std::distance(std::filesystem::recursive_directory_iterator(path, none), {});
}

TEST(DataMake, MakesNothingTheSecondTime) {
  const TestFolder folder;
  const std::string path = folder.path("photos");
  const Ended first = run_binary(make(path, {"--count", "12"}));
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("12 images made"));
  const Ended second = run_binary(make(path, {"--count", "12"}));
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("holds these 12 images already"));
  EXPECT_EQ(count_images(path), 12);
}

TEST(DataMake, ResumesAfterKill) {
  const TestFolder folder;
  const std::string path = folder.path("photos");
  const Words words = {"data",   "make",    path,        "--count", "100",
                       "--size", "500x375", "--threads", "1"};
  for (const int signal : {SIGKILL, SIGINT}) {
    RunningBinary running(words);
    const std::int64_t before = files_below(path);
    while (!running.has_ended() && files_below(path) < before + 3)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_FALSE(running.has_ended());
    running.send(signal);
    EXPECT_EQ(running.wait().exit_code, signal == SIGKILL ? -SIGKILL : 130);
  }
  const Ended rest = run_binary(words);
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(count_images(path), 100);
  const Ended info = run_binary({"data", "info", path, "--check"});
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_THAT(info.out, testing::ContainsRegex("damaged +0 "));
}

TEST(DataPack, MakesShardsThatARunReads) {
  const TestFolder folder;
  const std::string photos = folder.path("photos"), shards = folder.path("shards");
  ASSERT_EQ(run_binary(make(photos, {"--count", "40"})).exit_code, 0);
  const Words words = {"data", "pack", photos, shards, "--encode", "jpeg:90", "--max-side", "32"};
  const Ended packed = run_binary(words);
  EXPECT_EQ(packed.exit_code, 0) << packed.err;
  EXPECT_THAT(packed.out, HasSubstr("40 samples packed into 1 shard"));
  EXPECT_THAT(packed.out, HasSubstr("\nloaderscope run --data 'tar:" + shards + "'"));
  EXPECT_THAT(run_binary(words).out, HasSubstr("holds this shard already"));
  const Ended ran = run_binary({"run", "--data", "tar:" + shards, "--device", "null", "--epochs",
                                "1", "--batch-size", "4", "--json", "-"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out).at("config").at("samples"), 40);
}

TEST(DataPack, ConvertsTarToMdsThatRunReads) {
  const TestFolder folder;
  const std::string tar = "tar:" + folder.path("tar"), mds = "mds:" + folder.path("mds");
  const Ended made = run_binary({"data", "make", tar, "--count", "20", "--size", "64x48"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("\nloaderscope run --data '" + tar + "'"));
  const Ended packed = run_binary({"data", "pack", tar, mds});
  EXPECT_EQ(packed.exit_code, 0) << packed.err;
  const Ended ran = run_binary({"run", "--data", mds, "--device", "null", "--epochs", "1",
                                "--batch-size", "4", "--json", "-"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out).at("config").at("samples"), 20);
  EXPECT_THAT(run_binary({"data", "pack", mds, folder.path("shards")}).out,
              ::testing::Not(HasSubstr("without classes")));
}

TEST(DataPack, SaysWhatIsNotWritten) {
  const TestFolder folder;
  const auto said = [&](const Words& words) {
    const Ended ended = run_binary(words);
    EXPECT_EQ(ended.exit_code, 64) << ended.out;
    return ended.err;
  };
  const std::string to = folder.path("to");
  EXPECT_THAT(said({"data", "pack", "photos", "litdata:" + to}), HasSubstr("expected one of tar"));
  EXPECT_THAT(said({"data", "pack", "photos", "tokens:" + to}), HasSubstr("a format of images"));
  EXPECT_THAT(said({"data", "pack", "photos", "tfrecord:" + to, "--compress", "zstd"}),
              HasSubstr("tfrecord is not compressed"));
  EXPECT_THAT(said({"data", "pack", "photos", to, "--compress", "xz"}), HasSubstr("--compress xz"));
  EXPECT_THAT(said({"data", "make", "tokens:" + to, "--count", "3"}), HasSubstr("is of images"));
  EXPECT_THAT(said({"data", "make", to, "--tokens", "3"}), HasSubstr("is of tokens:PATH"));
}

TEST(DataMake, MakesTokensThatRunReads) {
  const TestFolder folder;
  const std::string tokens = "tokens:" + folder.path("tokens");
  const Ended made = run_binary({"data", "make", tokens, "--tokens", "100k", "--documents", "512"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("100,000 tokens made"));
  const Ended ran = run_binary({"run", "--data", tokens, "--device", "null", "--epochs", "1",
                                "--batch-size", "4", "--json", "-"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out).at("config").at("samples"), 97);
}

// 196 texts of 512 tokens of two bytes (the last of 160), each in a window of 1,024 of eight.
TEST(DataMake, MakesTextsThatRunPads) {
  const TestFolder folder;
  const std::string tokens = "tokens:" + folder.path("tokens");
  run_binary({"data", "make", tokens, "--tokens", "100k", "--documents", "512"});
  const Ended ran =
      run_binary({"run", "--data", tokens + "?pad=0&deliver=i64", "--device", "null", "--epochs",
                  "1", "--batch-size", "4", "--warmup", "0", "--num-workers", "2", "--json", "-"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json result = json::parse(ran.out);
  EXPECT_EQ(result.at("config").at("samples"), 196);
  EXPECT_NEAR(result.at("collate").at("padding_share").get<double>(), 1 - 1e5 / (196 * 1024), 1e-9);
  EXPECT_EQ(result.at("stages").at("read").at("bytes"), 200'000);
  EXPECT_EQ(result.at("memory").at("batch_bytes"), 4 * 1024 * 8);
  EXPECT_THAT(ran.out, HasSubstr("padding-waste"));
}

TEST(DataPack, ResumesAfterKill) {
  const TestFolder folder;
  const std::string photos = folder.path("photos"), shards = folder.path("shards");
  ASSERT_EQ(run_binary({"data", "make", photos, "--count", "12", "--size", "500x375"}).exit_code,
            0);
  const Words words = {"data", "pack",         photos, shards,      "--encode",
                       "png",  "--shard-size", "1MiB", "--threads", "1"};
  for (const int signal : {SIGKILL, SIGINT}) {
    RunningBinary running(words);
    const std::int64_t before = files_below(shards);
    while (!running.has_ended() && files_below(shards) < before + 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_FALSE(running.has_ended());
    running.send(signal);
    EXPECT_EQ(running.wait().exit_code, signal == SIGKILL ? -SIGKILL : 130);
  }
  const Ended rest = run_binary(words);
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_THAT(rest.out, HasSubstr("were there)"));
  const Words run = {"run", "--data", "tar:" + shards, "--device", "null", "--epochs", "1"};
  EXPECT_EQ(run_binary(run).exit_code, 0);
}

TEST(DataPack, RejectsBadWordsAndFolders) {
  const TestFolder folder;
  const auto says = [&](const Words& more, int code, const std::string& text) {
    Words words = {"data", "pack"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = run_binary(words);
    EXPECT_EQ(ended.exit_code, code) << text;
    EXPECT_THAT(ended.err, HasSubstr(text));
  };
  const std::string photos = folder.path("photos"), shards = folder.path("shards");
  says({}, 64, "expected the images and the folder to fill");
  says({photos, shards}, 1, photos);
  ASSERT_EQ(run_binary(make(photos, {"--count", "4"})).exit_code, 0);
  says({photos, shards, "--encode", "jpeg:0"}, 64, "--encode jpeg:0: ");
  says({photos, shards, "--max-side", "10"}, 64, "--max-side: expected --encode");
  says({photos, shards, "--in-order", "--seed", "1"}, 64, "--seed: contradicts --in-order");
  says({photos, photos}, 1, "holds another data set");
  says({photos, "/proc/shards"}, 1, "/proc/shards: cannot be written");
  EXPECT_FALSE(fs::exists(shards));
}

TEST(DataMake, RefusesAFolderOfOthers) {
  const TestFolder folder;
  folder.write("thesis.txt", "important");
  const Ended ended = run_binary(make(folder.path("."), {"--count", "3"}));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("is not empty"));
  EXPECT_EQ(folder.files(), 1);
}

TEST(DataMake, RefusesOtherOptionsForTheSameFolder) {
  const TestFolder folder;
  const std::string path = folder.path("photos");
  ASSERT_EQ(run_binary(make(path, {"--count", "4"})).exit_code, 0);
  const Ended ended = run_binary(make(path, {"--count", "4", "--seed", "1"}));
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr(path));
  EXPECT_EQ(count_images(path), 4);
}

TEST(DataMake, SuggestsCorrectionOfBadWords) {
  const TestFolder folder;
  const std::string path = folder.path("photos");
  const auto says = [&](const Words& more, const std::string& text) {
    const Ended ended = run_binary(make(path, more));
    EXPECT_EQ(ended.exit_code, 64) << text;
    EXPECT_THAT(ended.err, HasSubstr(text));
  };
  says({"--coutn", "3"}, "did you mean '--count'?");
  says({"--format", "jpg"}, "did you mean 'jpeg'?");
  says({"--count", "0"}, "--count");
  says({"--count", "many"}, "--count many: ");
  says({"--quality", "50", "--bytes-per-pixel", "0.4"}, "contradicts --quality");
  EXPECT_FALSE(fs::exists(path));
  const Ended nowhere = run_binary({"data", "make"});
  EXPECT_EQ(nowhere.exit_code, 64);
  EXPECT_EQ(run_binary(make("/proc/photos")).exit_code, 1);
}

TEST(DataMake, RefusesWhatTheFormatDoesNotHave) {
  const TestFolder folder;
  for (const Words& more : {Words{"--quality", "3"}, Words{"--subsampling", "444"}}) {
    Words words = make(folder.path("photos"), {"--count", "2", "--format", "png"});
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = run_binary(words);
    EXPECT_EQ(ended.exit_code, 64);
    EXPECT_THAT(ended.err, HasSubstr("leave it out"));
  }
}

TEST(DataMake, MakesNoMoreClassesThanImages) {
  const TestFolder folder;
  const std::string path = folder.path("photos");
  const Ended ended = run_binary({"data", "make", path, "--count", "3", "--size", "40x30"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(count_images(path), 3);
  EXPECT_EQ(run_binary(make(folder.path("more"), {"--count", "1"})).exit_code, 64);
}

TEST(DataMake, FailsAtFileSizeLimit) {
  if (std::system("prlimit --version > /dev/null") != 0) GTEST_SKIP() << "prlimit is missing";
  const TestFolder folder;
  const std::string command = "prlimit --fsize=100 " + binary() + " data make " +
                              folder.path("photos") + " --count 3 2> " + folder.path("err");
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(DataInfo, ReportsMissingFolder) {
  const TestFolder folder;
  const Ended ended = run_binary({"data", "info", folder.path("none")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr(folder.path("none") + ": cannot be listed"));
  EXPECT_EQ(run_binary({"data", "info"}).exit_code, 64);
}

TEST(DataMake, MakesSyntheticCopyOfShards) {
  const TestFolder folder;
  const std::string photos = folder.path("photos"), shards = folder.path("shards");
  ASSERT_EQ(run_binary(make(photos, {"--count", "20"})).exit_code, 0);
  ASSERT_EQ(run_binary({"data", "pack", photos, shards}).exit_code, 0);
  const std::string twin = folder.path("twin");
  const Ended made = run_binary({"data", "make", twin, "--like", "tar:" + shards});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("20 images made"));
  EXPECT_EQ(count_images(twin), 20);
  const Ended size = run_binary({"data", "make", twin, "--like", photos, "--size", "40x30"});
  EXPECT_EQ(size.exit_code, 64);
  EXPECT_THAT(size.err, HasSubstr("--size: contradicts --like"));
}

TEST(DataInfo, DescribesShardsAndComparesThemWithPhotos) {
  const TestFolder folder;
  const std::string photos = folder.path("photos"), shards = folder.path("shards");
  ASSERT_EQ(run_binary(make(photos, {"--count", "40"})).exit_code, 0);
  ASSERT_EQ(run_binary({"data", "pack", photos, shards}).exit_code, 0);
  const Ended info = run_binary({"data", "info", "tar:" + shards, "--json"});
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_EQ(json::parse(info.out).at("images"), 40);
  EXPECT_EQ(json::parse(info.out).at("objects"), 1);
  const Ended drift = run_binary({"data", "info", photos, "tar:" + shards});
  EXPECT_EQ(drift.exit_code, 0) << drift.err;
  EXPECT_THAT(drift.out, testing::StartsWith("No difference beyond chance"));
  const Ended page =
      run_binary({"data", "info", photos, "tar:" + shards, "--html", folder.path("d.html")});
  EXPECT_EQ(page.exit_code, 0) << page.err;
}

TEST(DataInfo, NamesTheDamaged) {
  const TestFolder folder;
  const std::string path = folder.path("photos");
  ASSERT_EQ(run_binary(make(path, {"--count", "5"})).exit_code, 0);
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.path().extension() != ".jpg") continue;
    fs::resize_file(entry.path(), 300);
    break;
  }
  const Ended ended = run_binary({"data", "info", path, "--check"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::ContainsRegex("damaged +1 "));
}

}  // namespace
}  // namespace loaderscope::testing_cli
