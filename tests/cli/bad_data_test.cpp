// loaderscope run on data that is not as it should be: one clear sentence, the right exit code, and
// no hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/image_texts.h"
#include "cli/run_binary.h"
#include "environment.h"
#include "unit/decode/made_jpeg.h"
#include "unit/decode/made_png.h"
#include "unit/decode/made_webp.h"

namespace loaderscope::testing_cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

std::string grey_jpeg() {
  made::JpegWish wish;
  wish.horizontal = wish.vertical = 1;
  return jpeg(wish, 1);
}

std::string cmyk_jpeg() {
  made::JpegWish wish;
  wish.horizontal = wish.vertical = 1;
  wish.stored_as = JCS_CMYK;
  return jpeg(wish, 4);
}

std::string progressive_jpeg() {
  made::JpegWish wish;
  wish.progressive = true;
  return jpeg(wish);
}

// Only the header says so.
std::string huge_jpeg() {
  std::string text = jpeg();
  const auto frame = text.find("\xFF\xC0");
  for (const std::size_t at : {frame + 5, frame + 7}) {
    text[at] = static_cast<char>(65'000 >> 8);
    text[at + 1] = static_cast<char>(65'000 & 255);
  }
  return text;
}

std::string png(unsigned colour_type, unsigned depth) {
  return byte_text(
      made::encode_png(made::photograph(40, 30, 3), {colour_type, depth, false}).stored);
}

// A folder of images with two good ones around what a test adds as b.*.
class Data {
 public:
  Data() {
    fs::create_directory(path());
    add("a.jpg", jpeg());
    add("c.jpg", progressive_jpeg());
  }
  std::string path() const { return folder_.path("data"); }
  std::string path(const std::string& name) const { return path() + "/" + name; }
  void add(const std::string& name, const std::string& bytes) const {
    folder_.write("data/" + name, bytes);
  }

 private:
  TestFolder folder_;
};

Words on(const std::string& path, const Words& more = {}) {
  Words words = {"run", "--data",  path, "--epochs", "1",    "--warmup",  "0",  "--size",
                 "16",  "--batch", "2",  "--device", "null", "--timeout", "30s"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::set<std::string> shared_files() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator("/dev/shm")) names.insert(entry.path());
  return names;
}

// Other programs have some there too, for a while.
bool new_shared_files_vanish(const std::set<std::string>& before) {
  for (int i = 0; i < 100; ++i) {
    const std::set<std::string> now = shared_files();
    if (std::includes(before.begin(), before.end(), now.begin(), now.end())) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

void expect_one_sentence(const Ended& ended, int exit_code) {
  EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
  EXPECT_THAT(ended.err, StartsWith("loaderscope: "));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  EXPECT_EQ(ended.out, "");
}

struct Sample {
  const char* name;
  const char* file;
  std::function<void(const Data&)> add;
  const char* kind;  // "" for a good one
};

std::ostream& operator<<(std::ostream& out, const Sample& sample) { return out << sample.name; }

class BadSample : public testing::TestWithParam<Sample> {};

TEST_P(BadSample, NamesAndCountsBadSampleOrUsesGoodOne) {
  const Data data;
  GetParam().add(data);
  const std::string path = data.path(GetParam().file), kind = GetParam().kind;
  for (const Words& more : {Words{"--workers", "2"}, Words{"--workers", "0"},
                            Words{"--workers", "2", "--access", "mmap"}}) {
    Words words = on(data.path(), more);
    words.insert(words.end(), {"--json", "-"});
    const Ended ended = run_binary(words);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    const json result = json::parse(ended.out);
    const json& errors = result.at("errors");
    EXPECT_EQ(result.at("window").at("samples"), 3);
    if (kind.empty()) {
      EXPECT_EQ(errors.at("skipped_samples"), 0) << errors;
    } else {
      EXPECT_EQ(errors.at("skipped_samples"), 1) << errors;
      EXPECT_EQ(errors.at("by_kind"), (json{{kind, 1}}));
      EXPECT_THAT(errors.at("first").at(0).get<std::string>(), StartsWith(path + ": "));
    }
  }
  const Ended strict = run_binary(on(data.path(), {"--on-error", "fail", "--workers", "2"}));
  if (kind.empty()) {
    EXPECT_EQ(strict.exit_code, 0) << strict.err;
  } else {
    expect_one_sentence(strict, 1);
    EXPECT_THAT(strict.err, HasSubstr(path + ": "));
    EXPECT_THAT(strict.err, HasSubstr("--on-error skip"));
  }
}

Sample file(const char* name, const char* file, std::string (*make)(), const char* kind) {
  return {name, file, [file, make](const Data& data) { data.add(file, make()); }, kind};
}

std::string name_of(const testing::TestParamInfo<Sample>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Kinds, BadSample,
    testing::Values(
        file(
            "truncated", "b.jpg", [] { return jpeg().substr(0, jpeg().size() / 2); }, "truncated"),
        file(
            "zero_byte", "b.jpg", [] { return std::string(); }, "truncated"),
        file(
            "one_byte", "b.jpg", [] { return std::string("\xFF"); }, "truncated"),
        file(
            "not_a_jpeg", "b.jpg", [] { return std::string("<html>404</html>"); }, "unsupported"),
        file(
            "png_named_jpg", "b.jpg", [] { return png(2, 8); }, ""),
        file("cmyk", "b.jpg", cmyk_jpeg, ""), file("grey", "b.jpg", grey_jpeg, ""),
        file("progressive", "b.jpg", progressive_jpeg, ""),
        file(
            "png_of_16_bits", "b.png", [] { return png(2, 16); }, ""),
        file(
            "png_with_palette", "b.png", [] { return png(3, 8); }, ""),
        file(
            "animated_webp", "b.webp", [] { return byte_text(made::animated_webp()); },
            "unsupported"),
        file("header_bomb", "b.jpg", huge_jpeg, "too_large"),
        Sample{"dangling_link", "b.jpg",
               [](const Data& data) { fs::create_symlink("nowhere.jpg", data.path("b.jpg")); },
               "unreadable"}),
    name_of);

TEST(BadData, SurvivesFolderOrPipeNamedLikeImage) {
  const Data data;
  fs::create_directory(data.path("b.jpg"));
  ASSERT_EQ(::mkfifo(data.path("d.jpg").c_str(), 0600), 0);
  const Ended ended = run_binary(on(data.path(), {"--workers", "2", "--json", "-"}));
  // The entries may be left out, or be named in an error.
  if (ended.exit_code == 0) {
    EXPECT_GE(json::parse(ended.out).at("window").at("samples"), 2);
  } else {
    expect_one_sentence(ended, 1);
  }
}

TEST(BadData, CountsUnreadableFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const Data data;
  data.add("b.jpg", jpeg());
  fs::permissions(data.path("b.jpg"), fs::perms::none);
  const Ended ended = run_binary(on(data.path(), {"--json", "-"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(json::parse(ended.out).at("errors").at("by_kind"), (json{{"not_allowed", 1}}));
}

// Files that shrink and grow while they are read, with either way of reading.
TEST(BadData, SurvivesFilesThatShrinkDuringReads) {
  for (const std::string access : {"pread", "mmap", "io-uring"}) {
    const TestFolder folder;
    fs::create_directory(folder.path("data"));
    const std::string whole = byte_text(made::encode_raw(made::photograph(600, 500, 1)));
    for (const char* name : {"a.raw", "b.raw", "c.raw"})
      folder.write("data/" + std::string(name), whole);
    RunningBinary running({"run", "--data", folder.path("data"), "--workers", "2", "--batch", "2",
                           "--size", "16", "--device", "null", "--access", access, "--duration",
                           "1h", "--json", folder.path("r.json")});
    running.wait_until_it_catches(SIGINT);
    for (int i = 0; i < 150 && !running.has_ended(); ++i) {
      const std::string path = folder.path("data/b.raw");
      fs::resize_file(path, i % 2 == 0 ? 5'000 : 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      fs::resize_file(path, whole.size());
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    EXPECT_FALSE(running.has_ended());
    running.send(SIGINT);
    const Ended ended = running.wait();
    EXPECT_EQ(ended.exit_code, 130) << access << ": " << ended.err;
    const json result = json::parse(folder.read("r.json"));
    for (const auto& [kind, count] : result.at("errors").at("by_kind").items())
      EXPECT_THAT(kind, testing::AnyOf("truncated", "damaged", "unreadable", "unsupported"))
          << count;
  }
}

TEST(BadData, ReportsEmptyOrMissingFolder) {
  const TestFolder folder;
  fs::create_directory(folder.path("empty"));
  const Ended empty = run_binary(on(folder.path("empty")));
  expect_one_sentence(empty, 1);
  EXPECT_THAT(empty.err, HasSubstr(folder.path("empty") + ": holds no images"));
  const Ended missing = run_binary(on(folder.path("none")));
  expect_one_sentence(missing, 1);
  EXPECT_THAT(missing.err, HasSubstr(folder.path("none") + ": "));
  EXPECT_THAT(missing.err, HasSubstr("No such file or directory"));
}

TEST(BadData, ReportsDataWithoutGoodSample) {
  const TestFolder folder;
  fs::create_directory(folder.path("data"));
  folder.write("data/a.jpg", "");
  folder.write("data/b.jpg", "text");
  for (const std::string workers : {"0", "2"}) {
    const Ended ended = run_binary(on(folder.path("data"), {"--workers", workers}));
    expect_one_sentence(ended, 1);
    EXPECT_THAT(ended.err,
                HasSubstr("none of the 2 samples can be used, the first because of this: "));
  }
}

TEST(BadData, RunsFewSamplesOnManyWorkers) {
  const TestFolder folder;
  fs::create_directory(folder.path("data"));
  folder.write("data/a.jpg", jpeg());
  const std::string many = std::to_string(4 * std::thread::hardware_concurrency());
  for (const Words& more :
       {Words{"--workers", "0"}, Words{"--workers", many},
        Words{"--workers", many, "--prefetch", "1"}, Words{"--workers", many, "--task", "sample"},
        Words{"--workers", "2", "--batch", "512"}}) {
    Words words = on(folder.path("data"), more);
    words.insert(words.end(), {"--json", "-"});
    const Ended ended = run_binary(words);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(json::parse(ended.out).at("window").at("samples"), 1);
  }
  const Ended dropped = run_binary(on(folder.path("data"), {"--batch", "64", "--drop-last"}));
  expect_one_sentence(dropped, 64);
  EXPECT_THAT(dropped.err, HasSubstr("--drop-last"));
}

// Returns why a limit of page-locked memory cannot be tested here; empty if it can.
std::string no_lock_limit() {
  if (is_sanitized()) return "the sanitizers make mlock a call that does nothing";
  if (std::system("prlimit --version > /dev/null && setpriv --version > /dev/null") == 0) return "";
  return "prlimit or setpriv is missing";
}

// The result of a run that may lock 64 KiB of memory.
json run_with_lock_limit(const std::string& arguments) {
  const Data data;
  const TestFolder folder;
  const std::string drop = ::geteuid() == 0 ? "setpriv --bounding-set=-ipc_lock " : "";
  const std::string command = "prlimit --memlock=65536 " + drop + binary() + " run --data " +
                              data.path() + " --epochs 1 --warmup 0 " + arguments + " --json " +
                              folder.path("r.json") + " > /dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  return json::parse(folder.read("r.json"));
}

TEST(BadData, WorksWithoutMemoryLocking) {
  if (const std::string reason = no_lock_limit(); !reason.empty()) GTEST_SKIP() << reason;
  const json result = run_with_lock_limit("--size 224");
  EXPECT_EQ(result.at("memory").at("locked_bytes"), 0);
  EXPECT_EQ(result.at("memory").at("pinned_bytes"), 0);
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("is not allowed"));
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("ulimit -l"));
}

TEST(BadData, SaysSoWhereOnlyALaterRankMayNotLockItsMemory) {
  if (const std::string reason = no_lock_limit(); !reason.empty()) GTEST_SKIP() << reason;
  // A rank has 5 slots of 12,288 bytes.
  const json result =
      run_with_lock_limit("--size 64 --transfer u8 --batch-size 1 --num-workers 1 --ranks 2");
  EXPECT_EQ(result.at("memory").at("pinned_bytes"), 5 * 12'288);
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("is not allowed"));
}

TEST(BadData, RejectsMoreBatchesThanMemoryHolds) {
  const Data data;
  const Ended ended = run_binary({"run", "--data", data.path(), "--batch-size", "100000",
                                  "--num-workers", "1000", "--ranks", "10"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("host memory: 2003 batches of 60.2 GB for each of 10 ranks"));
}

TEST(BadData, PrintsOnlyFailureAndKeepsPartialResult) {
  const Data data;
  const TestFolder cache;
  const Environment cache_home("XDG_CACHE_HOME", cache.path(""));
  for (int i = 10; i < 40; ++i) data.add("b" + std::to_string(i) + ".jpg", jpeg());
  data.add("z.jpg", "no image");
  const Ended ended = run_binary(on(data.path(), {"--on-error", "fail", "--workers", "0"}));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, StartsWith("loaderscope: " + data.path("z.jpg")));
  EXPECT_THAT(ended.printed, HasSubstr("\nhint: 'loaderscope report last' shows"));
  const Ended last = run_binary({"report", "last"});
  EXPECT_EQ(last.exit_code, 0) << last.err;
  EXPECT_THAT(last.out, HasSubstr("steps"));
}

TEST(Stuck, EndsInOneSentenceWithoutBatches) {
  const std::set<std::string> before = shared_files();
  for (const Words& more : {Words{"--workers", "2"}, Words{"--workers", "0"},
                            Words{"--workers", "2", "--task", "sample"},
                            Words{"--workers", "1", "--ranks", "2", "--sync-ranks"}}) {
    Words words = {"run", "--cost", "decode=1h:sleep", "--timeout", "1s"};
    words.insert(words.end(), more.begin(), more.end());
    const auto begin = std::chrono::steady_clock::now();
    const Ended ended = run_binary(words);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    expect_one_sentence(ended, 1);
    EXPECT_THAT(ended.err, HasSubstr("no batch came for 1.000 s: worker 0 is at sample "));
    EXPECT_THAT(ended.err, HasSubstr("--timeout"));
  }
  EXPECT_TRUE(new_shared_files_vanish(before));
}

TEST(Stuck, EndsAtFirstInterrupt) {
  const TestFolder folder;
  RunningBinary running({"run", "--cost", "decode=1h:sleep", "--json", folder.path("r.json")});
  running.wait_until_it_catches(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  running.send(SIGINT);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_EQ(json::parse(folder.read("r.json")).at("window").at("steps"), 0);
}

// An interrupted run is analysed like any other run.
TEST(Interrupted, ReportsFindingsAfterEnoughSteps) {
  const TestFolder folder;
  RunningBinary running({"run", "--cost", "decode=5ms:sleep", "--workers", "1", "--batch", "2",
                         "--compute", "2ms", "--duration", "1h", "--json", folder.path("r.json")});
  running.wait_until_it_catches(SIGINT);
  std::this_thread::sleep_for(std::chrono::seconds(3));
  running.send(SIGINT);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  const auto result = json::parse(folder.read("r.json"));
  ASSERT_GE(result.at("window").at("steps").get<int>(), 20);
  ASSERT_FALSE(result.at("findings").empty()) << result.at("unseen");
  EXPECT_THAT(ended.out, HasSubstr("Fix: "));
}

TEST(Stuck, KillsRunAtSecondInterrupt) {
  int exit_code = 0;
  for (int attempt = 0; attempt < 10 && exit_code != -SIGINT; ++attempt) {
    RunningBinary running({"run", "--cost", "decode=1h:sleep"});
    running.wait_until_it_catches(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    running.send(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    running.send(SIGINT);
    exit_code = running.wait().exit_code;
  }
  EXPECT_EQ(exit_code, -SIGINT);
}

}  // namespace
}  // namespace loaderscope::testing_cli
