// Data at servers, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "cli/torch_python.h"
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

TEST_F(ServersCli, WhatIsThrottledIsTriedAgainAndCounted) {
  const Ended ended = run(server_.url("a.npy", "fail=503x1,retry_after=0"), {"--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("requests.throttled"));
  EXPECT_EQ(json::parse(ended.out).at("ranks").at(0).at("samples"), 80);
}

// In no output, result or trace.
TEST_F(ServersCli, WrongKeysAreASentenceThatShowsNone) {
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

TEST_F(ServersCli, UrlsThatHoldSecretsAreRefusedAndNotShown) {
  for (const std::string& url : {std::string("npy:https://me:hunter2@host/a.npy"),
                                 std::string("files:https://host/a/?X-Amz-Signature=hunter2")}) {
    const Ended ended = run(url, {});
    EXPECT_EQ(ended.exit_code, 64);
    EXPECT_THAT(ended.err, HasSubstr("~/.netrc"));
    EXPECT_THAT(ended.err + ended.out, Not(HasSubstr("hunter2")));
  }
}

// The store is moto's, where the Python of the tests has it.
TEST_F(ServersCli, AStoreThatSpeaksS3IsReadAndListed) {
  if (!torch_python_has("moto") || !torch_python_has("boto3")) GTEST_SKIP() << "no moto";
  const source::FaultServer store(folder_.path("served"), "s3_server.py", torch_python());
  ASSERT_TRUE(store.runs());
  const Environment key("AWS_ACCESS_KEY_ID", "testing-key");
  const Environment secret("AWS_SECRET_ACCESS_KEY", "testing-secret");
  const std::string url = store.url("");
  const Environment endpoint("AWS_ENDPOINT_URL", url.substr(0, url.size() - 1));
  for (const std::string data : {"s3://data/a.npy", "npy:s3://data/"}) {
    const Ended ended = run(data, {"--json", "-"});
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(json::parse(ended.out).at("ranks").at(0).at("samples"), 80);
    EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("testing-secret")));
  }
  EXPECT_THAT(run("s3://data/none.tar", {}).err, HasSubstr("404 NoSuchKey"));
}

TEST_F(ServersCli, NoServerIsASentence) {
  const Ended ended = run("npy:http://127.0.0.1:1/a.npy", {});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("127.0.0.1:1/a.npy: cannot be opened: "));
}

}  // namespace
}  // namespace loaderscope::testing_cli
