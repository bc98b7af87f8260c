// Data at servers, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/image_texts.h"
#include "cli/run_binary.h"
#include "cli/run_script.h"
#include "source/store.h"
#include "unit/dataset/contents.h"
#include "unit/source/container_bytes.h"
#include "unit/source/remote/fault_server.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSecret = "wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY";
constexpr const char* kToken = "SESSIONTOKENEXAMPLE";

// Forty rows of numbers, and a server of them.
class ServersCli : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = source::why_no_servers()) GTEST_SKIP() << *why;
    if (!server_.runs()) GTEST_SKIP() << "no python3 to serve files";
    dataset::put(folder_.path("served/a.npy"),
                 source::npy_bytes("|u1", "(40, 500)", std::string(20'000, 'x')));
  }
  static Ended run(const std::string& data, const Words& more) {
    Words all = {"run", "--data",        data, "--batch-size", "4",   "--warmup", "0", "--epochs",
                 "2",   "--num-workers", "2",  "--device",     "null"};
    all.insert(all.end(), more.begin(), more.end());
    return run_binary(all);
  }
  TestFolder folder_;
  source::FaultServer server_{folder_.path("served")};
};

TEST_F(ServersCli, ReadsWithRequestsAndKeepsWhatTheyBrought) {
  const Words kept = {"--cache-dir", folder_.path("kept"), "--json", "-"};
  const Ended first = run(server_.url("a.npy"), kept);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const json result = json::parse(first.out);
  EXPECT_EQ(result.at("config").at("access"), "http");
  EXPECT_EQ(result.at("ranks").at(0).at("samples"), 80);
  const Ended second = run(server_.url("a.npy"), kept);
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.out, Not(HasSubstr("requests.sent")));
}

// An image that is an object by itself is requested only when its sample is read.
TEST_F(ServersCli, FetchesReplacedImageAgain) {
  dataset::put(folder_.path("served/list.csv"), "path,label\na.jpg,0\n");
  const auto fetched = [&](const std::string& content) {
    dataset::put(folder_.path("served/a.jpg"), content);
    const Ended ended =
        run_binary({"run", "--source", "files", "--index", server_.url("list.csv"), "--batch-size",
                    "1", "--warmup", "0", "--epochs", "2", "--num-workers", "1", "--device", "null",
                    "--cache-dir", folder_.path("kept"), "--json", "-"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    if (ended.exit_code != 0) return -1.0;
    return json::parse(ended.out).at("range_cache").at("bytes_fetched").get<double>();
  };
  const std::string first = jpeg(), second = jpeg({}, 1);
  EXPECT_GT(fetched(first), 0);
  EXPECT_EQ(fetched(first), 0) << "it is the same";
  EXPECT_GT(fetched(second), 0) << "it is another one";
}

// Killed in the midst of it: what it had kept whole is found, what it was writing is gone.
TEST_F(ServersCli, ReusesCacheFolderOfKilledJob) {
  const std::string url = server_.url("a.npy", "latency=0.02"), kept = folder_.path("kept");
  RunningBinary job({"run", "--data", url, "--shuffle", "--batch-size", "4", "--steps", "100000",
                     "--device", "null", "--num-workers", "1", "--queue-depth", "1", "--cache-dir",
                     kept});
  const auto files = [&] {
    std::size_t count = 0;
    if (std::filesystem::exists(kept))
      for (const auto& entry : std::filesystem::recursive_directory_iterator(kept))
        count += entry.is_regular_file() ? 1U : 0U;
    return count;
  };
  for (int i = 0; i < 3000 && files() < 5 && !job.has_ended(); ++i) ::usleep(10'000);
  job.send(SIGKILL);
  EXPECT_EQ(job.wait().exit_code, -SIGKILL);
  for (const char* name : {".range-left", ".range-1-2"})
    dataset::put(kept + "/" + name, "the beginning of a range");
  const Ended next = run(url, {"--cache-dir", kept, "--json", "-"});
  ASSERT_EQ(next.exit_code, 0) << next.err;
  const json result = json::parse(next.out);
  EXPECT_EQ(result.at("ranks").at(0).at("samples"), 80);
  EXPECT_GE(result.at("range_cache").at("hits").get<double>(), 4);
  EXPECT_TRUE(result.at("errors").at("by_kind").empty()) << result.at("errors");
}

TEST_F(ServersCli, PredictsFromCountedRequests) {
  const std::string saved = folder_.path("r.json");
  const Ended ended =
      run(server_.url("a.npy", "latency=0.01"), {"--queue-depth", "2", "--json", saved});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const auto gain_with = [&](const std::string& change) {
    const Ended what_if = run_binary({"what-if", saved, "--set", change, "--json", "-"});
    EXPECT_EQ(what_if.exit_code, 0) << what_if.err;
    return what_if.exit_code == 0 ? json::parse(what_if.out).at("gain").get<double>() : 0;
  };
  EXPECT_GT(gain_with("storage.latency=1ms"), 1.5);
  EXPECT_LT(gain_with("storage.latency=100ms"), 0.5);
  EXPECT_GT(gain_with("cache.hit-rate=0.9"), 1.5);
  // Rows that lie side by side come with one request: no more of them are known of.
  EXPECT_GT(gain_with("storage.in-flight=8"), 0.95);
  EXPECT_LT(gain_with("storage.bandwidth=10KB/s"), 0.5);
}

// 20 KB take 5 ms of a link that all share; or each has its first byte after 40 ms.
TEST_F(ServersCli, DistinguishesFullLinkFromFarServer) {
  dataset::put(folder_.path("served/b.npy"),
               source::npy_bytes("|u1", "(64, 20000)", std::string(64 * 20'000, 'x')));
  const auto findings_with = [&](const std::string& switches) {
    const Ended ended = run_binary({"run", "--data", server_.url("b.npy", switches), "--batch-size",
                                    "4", "--epochs", "6", "--num-workers", "1", "--device", "null",
                                    "--shuffle", "--json", "-"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    std::string ids;
    if (ended.exit_code != 0) return ids;
    const json result = json::parse(ended.out);
    for (const json& finding : result.at("findings"))
      ids += finding.at("id").get<std::string>() + " ";
    return ids.empty() ? result.at("verdict").dump() : ids;
  };
  const std::string full = findings_with("rate=4000000");
  EXPECT_THAT(full, HasSubstr("storage-bandwidth"));
  EXPECT_THAT(full, Not(HasSubstr("storage-latency")));
  const std::string far = findings_with("latency=0.04");
  EXPECT_THAT(far, HasSubstr("storage-latency"));
  EXPECT_THAT(far, Not(HasSubstr("storage-bandwidth")));
}

// 20 KB take 25 ms of each connection, however many there are: more at once bring more.
TEST_F(ServersCli, DistinguishesConnectionLimitFromFullLink) {
  dataset::put(folder_.path("served/b.npy"),
               source::npy_bytes("|u1", "(64, 20000)", std::string(64 * 20'000, 'x')));
  const Ended ended =
      run_binary({"run", "--data", server_.url("b.npy", "rate_each=800000"), "--batch-size", "4",
                  "--epochs", "6", "--num-workers", "1", "--device", "null", "--shuffle",
                  "--queue-depth", "16", "--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json result = json::parse(ended.out);
  if (!result.at("requests").contains("slowed_by_others"))
    GTEST_SKIP() << "as many requests ran at once all the time";
  std::string findings;
  for (const json& finding : result.at("findings"))
    findings += finding.at("id").get<std::string>() + ": " + finding.at("evidence").dump() + "\n";
  EXPECT_THAT(findings, HasSubstr("storage-latency")) << result.at("requests");
  EXPECT_THAT(findings, HasSubstr("by itself, as fast with many others as with few"));
  EXPECT_THAT(findings, Not(HasSubstr("storage-bandwidth")));
}

// The storage latency of what-if is the delay that the server declares. The measured latency also
// contains the work of the server, but not the time that a request waits for others.
TEST_F(ServersCli, ShowsMeasuredStorageInWhatIf) {
  const std::string saved = folder_.path("r.json");
  const Ended ended = run(server_.url("a.npy", "latency=0.02"),
                          {"--shuffle", "--queue-depth", "4", "--json", saved});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const Words words = {
      "what-if", saved, "--set", "storage.latency=20ms", "--set", "storage.in-flight=4"};
  const Ended what_if = run_binary(words);
  if (what_if.exit_code == 64 &&
      what_if.err.find("the model of its requests misses") != what_if.err.npos)
    GTEST_SKIP() << "other programs took this machine's time: " << what_if.err;
  EXPECT_THAT(what_if.out, HasSubstr("ms now -> 20.00 ms: from a read or a request"))
      << what_if.err;
  Words with_json = words;
  with_json.insert(with_json.end(), {"--json", "-"});
  const json storage = json::parse(run_binary(with_json).out).at("storage");
  EXPECT_EQ(storage.at(0).at("unit"), "s");
  EXPECT_GE(storage.at(0).at("now").get<double>(), 0.02);
  EXPECT_EQ(storage.at(1).at("now"), 4);
}

TEST_F(ServersCli, RetriesAndCountsThrottledRequests) {
  const Ended ended = run(server_.url("a.npy", "fail=503x1,retry_after=0"), {"--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("requests.throttled"));
  EXPECT_EQ(json::parse(ended.out).at("ranks").at(0).at("samples"), 80);
}

// In no output, result or trace.
TEST_F(ServersCli, HidesKeysThatTheServerRefuses) {
  const Environment key("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  const Environment secret("AWS_SECRET_ACCESS_KEY", kSecret);
  const Environment token("AWS_SESSION_TOKEN", kToken);
  const Environment endpoint("AWS_ENDPOINT_URL", server_.url("-", "fail=403"));
  const Ended ended = run("npy:s3://bucket/a.npy", {"--json", folder_.path("r.json")});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the server answers 403"));
  EXPECT_THAT(ended.err + ended.out, Not(HasSubstr(kSecret)));
  EXPECT_THAT(ended.err + ended.out, Not(HasSubstr(kToken)));
}

TEST_F(ServersCli, RejectsUrlsWithSecretsAndHidesThem) {
  for (const std::string& url : {std::string("npy:https://me:hunter2@host/a.npy"),
                                 std::string("files:https://host/a/?X-Amz-Signature=hunter2"),
                                 std::string("npy:s3://b/a?endpoint=http://me:hunter2@host")}) {
    const Ended ended = run(url, {});
    EXPECT_EQ(ended.exit_code, 64);
    EXPECT_THAT(ended.err, HasSubstr("~/.netrc"));
    EXPECT_THAT(ended.err + ended.out, Not(HasSubstr("hunter2")));
  }
}

TEST_F(ServersCli, RejectsEndpointWithPasswordAndHidesIt) {
  const Environment endpoint("AWS_ENDPOINT_URL", "http://me:hunter2@127.0.0.1:1");
  const Ended ended = run("npy:s3://bucket/a.npy", {"--json", folder_.path("r.json")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("holds a user or a password"));
  EXPECT_THAT(ended.err + ended.out, Not(HasSubstr("hunter2")));
}

TEST_F(ServersCli, RejectsFolderWithTooManyNames) {
  const std::string url = server_.url("", "names=60000");
  const Environment endpoint("AWS_ENDPOINT_URL", url.substr(0, url.size() - 1));
  const Ended ended = run("files:s3://bucket/photos/", {});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("s3://bucket/photos/: cannot be listed (holds more than 50 MiB "
                                   "of names, more than are listed); name a folder within it"));
}

// After 30 answers the store takes the session for expired: what came is reported, what did not is
// counted, and neither key nor token is in anything that is written.
TEST_F(ServersCli, CountsExpiredSessionAndHidesItsSecrets) {
  const Environment key("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  const Environment secret("AWS_SECRET_ACCESS_KEY", kSecret);
  const Environment token("AWS_SESSION_TOKEN", kToken);
  const std::string url = server_.url("", "expire=30");
  const Environment endpoint("AWS_ENDPOINT_URL", url.substr(0, url.size() - 1));
  dataset::put(folder_.path("served/bucket/a.npy"),
               dataset::file_content(folder_.path("served/a.npy")));
  const std::string json_file = folder_.path("r.json"), page = folder_.path("r.html"),
                    trace = folder_.path("r.pftrace");
  const Ended ended = run("npy:s3://bucket/a.npy", {"--shuffle", "--json", json_file, "--html",
                                                    page, "--perfetto", trace, "--verbose"});
  EXPECT_THAT(ended.out + ended.err, HasSubstr("ExpiredToken"));
  const json errors = json::parse(dataset::file_content(json_file)).at("errors");
  EXPECT_GT(errors.at("by_kind").value("not_allowed", 0), 0) << errors;
  for (const std::string& text : {ended.out, ended.err, dataset::file_content(json_file),
                                  dataset::file_content(page), dataset::file_content(trace)}) {
    EXPECT_THAT(text, Not(HasSubstr(kSecret)));
    EXPECT_THAT(text, Not(HasSubstr(kToken)));
  }
}

// The store is moto's.
TEST_F(ServersCli, ReadsAndListsS3Store) {
  const std::string python = servers_python();
  if (python.empty()) GTEST_SKIP() << "no moto: scripts/python-env servers makes a Python with it";
  for (const char* name : {"photos/a.jpg", "photos/cats/b.jpg"})
    dataset::put(folder_.path("served/") + name, jpeg());
  dataset::put(folder_.path("served/photos/c.jpg"), jpeg().substr(0, 1000));
  const source::FaultServer store(folder_.path("served"), "s3_server.py", python);
  ASSERT_TRUE(store.runs());
  const Environment key("AWS_ACCESS_KEY_ID", "testing-key");
  const Environment secret("AWS_SECRET_ACCESS_KEY", "testing-secret");
  const std::string url = store.url("");
  const std::string elsewhere = "?endpoint=" + url;
  const Environment endpoint("AWS_ENDPOINT_URL", url.substr(0, url.size() - 1));
  for (const std::string& data : {std::string("s3://data/a.npy"), std::string("npy:s3://data/"),
                                  "s3://data/a.npy" + elsewhere, "npy:s3://data/" + elsewhere}) {
    const Ended ended = run(data, {"--json", "-"});
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(json::parse(ended.out).at("ranks").at(0).at("samples"), 80);
    EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("testing-secret")));
  }
  EXPECT_THAT(run("s3://data/none.tar", {}).err, HasSubstr("404 NoSuchKey"));
  const Ended info = run_binary({"data", "info", "s3://data/photos/", "--check", "--json"});
  ASSERT_EQ(info.exit_code, 0) << info.err;
  const json looked_at = json::parse(info.out);
  EXPECT_EQ(looked_at.at("images"), 2) << looked_at;
  EXPECT_EQ(looked_at.at("damaged").at("count"), 1) << looked_at;
}

// Before it has ever answered, too.
TEST_F(ServersCli, EndsRunIfServerIsSilent) {
  const Ended ended = run(server_.url("a.npy", "latency=600"), {"--request-timeout", "1s"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("the server is silent for 1.000 s (6 tries)"));
}

TEST_F(ServersCli, ReportsMissingServer) {
  const Ended ended = run("npy:http://127.0.0.1:1/a.npy", {});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("127.0.0.1:1/a.npy: cannot be opened: "));
}

}  // namespace
}  // namespace loaderscope::testing_cli
