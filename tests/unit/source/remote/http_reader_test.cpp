#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include <chrono>
#include <filesystem>
#include <map>
#include <numeric>

#include "loaderscope/errors.h"
#include "source/range_cache.h"
#include "source/registry.h"
#include "source/store.h"
#include "unit/source/container_bytes.h"
#include "unit/source/remote/fault_server.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::source {
namespace {

using ::testing::HasSubstr;
using Kind = SampleError::Kind;

// Rows of 1000 bytes, each of one value, and shards of the same.
struct HttpReading : testing::Test {
  static constexpr int kRows = 64;

  static void SetUpTestSuite() { shared = std::make_unique<Shared>(); }
  static void TearDownTestSuite() { shared.reset(); }
  void SetUp() override {
    if (const auto why = why_no_servers()) GTEST_SKIP() << *why;
    if (!server.runs()) GTEST_SKIP() << "no python3 to serve files";
  }

  static std::string row(int i) { return std::string(1000, static_cast<char>(i + 1)); }
  static std::string rows() {
    std::string all;
    for (int i = 0; i < kRows; ++i) all += row(i);
    return all;
  }
  static std::string shard() {
    TarBytes tar;
    for (int i = 0; i < kRows; ++i) tar.add(std::to_string(i) + ".jpg", row(i));
    return tar.finish();
  }

  std::unique_ptr<Source> open(const std::string& format, const std::string& url,
                               const std::string& words = "") {
    options.use_index_cache = false;
    return open_source(format, {url + words}, options, {});
  }
  std::unique_ptr<Source> open_rows(const std::string& switches = "") {
    return open("npy", server.url("rows.npy", switches));
  }
  static std::string read(SampleReader& reader, std::int64_t sample) {
    const auto bytes = reader.read(sample);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  static std::map<std::string, double> metrics(const Source& source) {
    std::map<std::string, double> all;
    for (const Metric& metric : source.metrics()) all[metric.name] = metric.value;
    return all;
  }
  // Reads all samples in a mixed order, which the reader knows ahead.
  static void expect_all(const Source& source) {
    const auto reader = source.make_reader();
    std::vector<std::int64_t> order(static_cast<std::size_t>(source.size()));
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<std::int64_t>(i * 37 % order.size());
    reader->expect(order);
    for (const std::int64_t sample : order)
      EXPECT_EQ(read(*reader, sample), row(static_cast<int>(sample)));
  }
  SampleError failure(const Source& source, std::int64_t sample) {
    try {
      source.make_reader()->read(sample);
    } catch (const SampleError& error) {
      return error;
    }
    return {Kind::unreadable, "nothing failed"};
  }

  // Data of all tests. The server remembers the faults that it has already made.
  struct Shared {
    TempFolder data;
    const std::string npy = data.write("rows.npy", npy_bytes("|u1", "(64, 1000)", rows()));
    const std::string tar = data.write("a.tar", shard());
    FaultServer server{data.path()};
  };
  static inline std::unique_ptr<Shared> shared;
  const TempFolder& data = shared->data;
  const FaultServer& server = shared->server;
  SourceOptions options;
};

TEST_F(HttpReading, GivesEveryRowAndMember) {
  const auto rows = open_rows();
  EXPECT_EQ(rows->size(), kRows);
  EXPECT_EQ(rows->access(), FileAccess::http);
  expect_all(*rows);
  expect_all(*open("tar", server.url("a.tar")));
  EXPECT_EQ(metrics(*rows)["requests.retries"], 0);
}

// An index of wds2idx is read next to the shards. If the first shard has none, no other index is
// requested.
TEST_F(HttpReading, UsesIndexNextToShardInsteadOfWalk) {
  const auto count_requests = [&](const std::string& name) {
    const RequestsOfOpening before = requests_of_opening();
    expect_all(*open("tar", server.url(name)));
    return requests_of_opening(before).sent;
  };
  data.write("b.tar", shard());
  const auto walked = count_requests("b.tar");
  std::string index = "v1.2 " + std::to_string(kRows) + "\n";
  Bytes at = 0;
  for (int i = 0; i < kRows; ++i) {
    index += fmt::format("jpg {} {} {}.jpg\n", at + 512, row(i).size(), i);
    at += 512 + (std::ssize(row(i)) + 511) / 512 * 512;
  }
  data.write("b.idx", index);
  EXPECT_LE(count_requests("b.tar"), walked + 5);
  // The index names one sample only, which shows that it is read.
  data.write("b.idx", "v1.2 1\njpg 512 1000 0.jpg\n");
  EXPECT_EQ(open("tar", server.url("b.tar"))->size(), 1);
  std::filesystem::last_write_time(
      data / "b.idx", std::filesystem::last_write_time(data / "b.tar") - std::chrono::seconds(9));
  const auto source = open("tar", server.url("b.tar"));
  EXPECT_EQ(source->size(), kRows);
  EXPECT_THAT(source->notes(), ::testing::Contains(HasSubstr("b.idx is older than its shard")));
}

TEST_F(HttpReading, ResolvesListOfShardsAgainstItsFolder) {
  const auto list = [&](const std::string& url) {
    data.write("list.json", R"({"wids_version": 1, "shardlist": [{"url": ")" + url +
                                R"(", "nsamples": )" + std::to_string(kRows) + "}]}");
    return open("tar", server.url("list.json"));
  };
  expect_all(*list("a.tar"));
  EXPECT_THAT(error_message<RunError>([&] { list("/etc/passwd"); }),
              HasSubstr("names /etc/passwd, from the root of a server"));
}

TEST_F(HttpReading, ReadsNeighboursWithOneRequest) {
  const auto source = open_rows();
  const auto reader = source->make_reader();
  std::vector<std::int64_t> all(kRows);
  std::iota(all.begin(), all.end(), 0);
  reader->expect(all);
  for (const std::int64_t sample : all)
    EXPECT_EQ(read(*reader, sample), row(static_cast<int>(sample)));
  EXPECT_EQ(metrics(*source)["requests.sent"], 1);
}

TEST_F(HttpReading, KeepsManyRequestsInFlight) {
  options.queue_depth = 16;
  const auto source = open_rows("latency=0.005");
  expect_all(*source);
  EXPECT_GT(metrics(*source)["requests.in_flight"], 4);
}

// Requests that run alone show the latency without the waits for other requests.
TEST_F(HttpReading, CountsRequestsThatRunAlone) {
  options.queue_depth = 1;
  const auto alone = open_rows("latency=0.002");
  expect_all(*alone);
  EXPECT_EQ(metrics(*alone)["requests.alone"], kRows);
  EXPECT_GE(metrics(*alone)["requests.alone_s"], 0.002);
  options.queue_depth = 16;
  const auto crowded = open_rows("latency=0.1");  // longer than sixteen threads take to start
  expect_all(*crowded);
  EXPECT_LE(metrics(*crowded)["requests.alone"], 1) << "the last one may be";
  const auto slow = open_rows("latency=0.2");  // longer than a thread takes to start
  const auto first = slow->make_reader(), second = slow->make_reader();
  const double before = metrics(*slow)["requests.alone"];
  auto other = std::async(std::launch::async, [&] { read(*second, 40); });
  const std::vector<std::int64_t> many = {25, 17, 9, 1};  // no neighbours
  first->expect(many);
  read(*first, 25);
  other.get();
  EXPECT_EQ(metrics(*slow)["requests.alone"], before) << "those of other readers run beside it";
}

TEST_F(HttpReading, RetriesTemporaryFailures) {
  for (const std::string switches : {"short=1", "drop=1", "fail=500x1", "fail=503x1",
                                     "fail=429x2,retry_after=0", "chunked,drop=2"}) {
    const auto source = open_rows(switches);
    EXPECT_EQ(read(*source->make_reader(), 5), row(5)) << switches;
    EXPECT_GE(metrics(*source)["requests.retries"], 1) << switches;
    EXPECT_EQ(metrics(*source)["requests.throttled"] > 0,
              switches.find("503") != switches.npos || switches.find("429") != switches.npos);
  }
}

TEST_F(HttpReading, RetriesSilentServer) {
  options.request_timeout = 1'000'000'000;
  const auto source = open_rows("stall=1");
  EXPECT_EQ(read(*source->make_reader(), 5), row(5));
  EXPECT_EQ(metrics(*source)["requests.timed_out"], 1);
}

// Wrong bytes are never taken for a sample.
TEST_F(HttpReading, RejectsWrongAnswers) {
  const auto good = open_rows();
  struct Case {
    const char *switches, *words;
  };
  for (const Case& one :
       {Case{"longer", "sends"}, Case{"no_range", "ranges"}, Case{"huge", "ends before"},
        Case{"loop", "leads on"}, Case{"fail=404", "not there"}, Case{"fail=403", "not allowed"}}) {
    EXPECT_THAT(error_message<RunError>([&] { open_rows(one.switches); }), HasSubstr(one.words))
        << one.switches;
  }
  const auto source = open_rows("other");
  EXPECT_EQ(failure(*source, 5).kind, Kind::damaged);
  const auto changing = open_rows("changes");
  EXPECT_THAT(failure(*changing, 5).what(), HasSubstr("changed"));
}

TEST_F(HttpReading, ReadsWholeImagesWithoutRangesOrLength) {
  data.write("list.csv", "path,label\nrows.npy,0\na.tar,1\n");
  for (const std::string switches : {"", "no_range", "chunked"}) {
    SourceOptions listed;
    listed.use_index_cache = false;
    listed.index_file = data / "list.csv";
    listed.paths = {server.url("", switches)};
    const auto source = open_source("files", {}, listed, {});
    const std::string stored = read(*source->make_reader(), 1);
    EXPECT_TRUE(stored == shard()) << switches;
  }
}

TEST_F(HttpReading, ReadsManifestFromServer) {
  data.write("list.csv", "path,label\nrows.npy,0\na.tar,1\n");
  options.index_file = server.url("list.csv");
  options.use_index_cache = false;
  const auto source = open_source("files", {}, options, {});
  ASSERT_EQ(source->size(), 2);
  EXPECT_TRUE(read(*source->make_reader(), 1) == shard());
}

TEST_F(HttpReading, StreamsSamplesInOrder) {
  for (const std::string switches : {"", "drop=1", "short=1"}) {
    const auto source = open("tar", server.url("a.tar", switches), "?stream=1");
    SubstageListener listener;
    const auto stream = source->streams()->make_stream({}, listener);
    stream->begin_epoch(0);
    int samples = 0;
    while (const auto bytes = stream->next()) {
      const std::string got(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      EXPECT_EQ(got, row(samples++)) << switches;
    }
    EXPECT_EQ(samples, kRows) << switches;
  }
}

TEST_F(HttpReading, RequestsKeptRangesOnlyOnce) {
  options.kept = std::make_shared<RangeCache>(data / "kept", Bytes{1} << 20);
  const auto first = open_rows();
  expect_all(*first);
  EXPECT_EQ(metrics(*first)["requests.sent"], kRows);
  expect_all(*first);
  EXPECT_EQ(metrics(*first)["requests.sent"], kRows);
  options.kept = std::make_shared<RangeCache>(data / "kept", Bytes{1} << 20);
  const auto later = open_rows();
  expect_all(*later);
  EXPECT_EQ(metrics(*later)["requests.sent"], 0);
  EXPECT_EQ(metrics(*later)["range_cache.hits"], kRows);
}

TEST_F(HttpReading, KeepsStreamsToo) {
  options.kept = std::make_shared<RangeCache>(data / "kept-stream", Bytes{1} << 20);
  const auto source = open("tar", server.url("a.tar"), "?stream=1");
  EXPECT_EQ(source->access(), FileAccess::http);
  SubstageListener listener;
  const auto stream = source->streams()->make_stream({}, listener);
  for (int epoch = 0; epoch < 2; ++epoch) {
    stream->begin_epoch(epoch);
    for (int i = 0; i < kRows; ++i) ASSERT_TRUE(stream->next());
  }
  EXPECT_GE(metrics(*source)["range_cache.hits"], 2);  // one more for the open that checks it
  EXPECT_EQ(metrics(*source)["requests.bytes"], 2);    // each time the first byte, to know it again
}

TEST_F(HttpReading, IgnoresFileAccessForServers) {
  options.access = FileAccess::mmap;
  EXPECT_THAT(open_rows()->notes(), ::testing::Contains(HasSubstr("--access mmap is for files")));
  options.access = FileAccess::http;
  EXPECT_EQ(open("npy", shared->npy)->access(), FileAccess::pread);
}

TEST(NoServer, ReportsAddressInError) {
  if (const auto why = why_no_servers()) GTEST_SKIP() << *why;
  SourceOptions options = without_cache({});
  EXPECT_THAT(error_message<RunError>(
                  [&] { open_source("npy", {"http://127.0.0.1:1/a.npy"}, options, {}); }),
              HasSubstr("127.0.0.1:1/a.npy: cannot be opened: "));
}

}  // namespace
}  // namespace loaderscope::source
