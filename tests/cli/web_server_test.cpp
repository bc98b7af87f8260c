// Data at a real web server: nginx on loopback, by HTTP and by HTTPS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/image_texts.h"
#include "cli/run_binary.h"
#include "source/store.h"
#include "unit/dataset/contents.h"
#include "unit/source/container_bytes.h"
#include "unit/source/remote/fault_server.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class WebServerCli : public testing::Test {
 protected:
  static constexpr int kImages = 24;

  void SetUp() override {
    if (const auto why = source::why_no_servers()) GTEST_SKIP() << *why;
    std::istringstream said(server_.said());
    said >> plain_ >> secure_ >> certificate_;
    if (certificate_.empty()) GTEST_SKIP() << "no nginx or openssl: scripts/install-deps servers";
    source::TarBytes tar;
    std::string list = "path,label\n";
    for (int i = 0; i < kImages; ++i) {
      const std::string name = std::to_string(i) + ".jpg", bytes = jpeg({}, i % 2 == 0 ? 3 : 1);
      tar.add(name, bytes);
      dataset::put(folder_.path("served/photos/" + name), bytes);
      list += name + ",0\n";
    }
    dataset::put(folder_.path("served/a.tar"), tar.finish());
    dataset::put(folder_.path("served/photos/list.csv"), list);
    dataset::put(folder_.path("served/a.npy"),
                 source::npy_bytes("|u1", "(40, 5000)", std::string(200'000, 'x')));
  }
  std::string http(const std::string& file) const {
    return "http://127.0.0.1:" + plain_ + "/" + file;
  }
  std::string https(const std::string& file) const {
    return "https://127.0.0.1:" + secure_ + "/" + file;
  }
  static json run_result(Words data) {
    Words all = {"run", "--batch-size",  "4", "--warmup", "0",    "--epochs",
                 "1",   "--num-workers", "2", "--device", "null", "--json",
                 "-",   "--queue-depth", "4"};
    all.insert(all.end(), data.begin(), data.end());
    const Ended ended = run_binary(all);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return ended.exit_code == 0 ? json::parse(ended.out) : json();
  }
  // Returns facts that must be equal for all ways to read the same data.
  static std::string delivered_facts(const Words& data) {
    const json result = run_result(data);
    if (result.is_null()) return "";
    return result.at("ranks").at(0).at("samples").dump() + " samples of " +
           result.at("source").at("bytes_of_samples").dump() + " bytes, errors " +
           result.at("errors").dump();
  }

  TestFolder folder_;
  source::FaultServer server_{folder_.path("served"), "nginx_server.py"};
  std::string plain_, secure_, certificate_;
};

TEST_F(WebServerCli, GivesTheSamplesThatFilesGive) {
  const Environment trusted("CURL_CA_BUNDLE", certificate_);
  const std::string tar = delivered_facts({"--data", "tar:" + folder_.path("served/a.tar")});
  EXPECT_THAT(tar, HasSubstr("24 samples"));
  for (const std::string& url : {http("a.tar"), https("a.tar")}) {
    EXPECT_EQ(delivered_facts({"--data", "tar:" + url}), tar);
    EXPECT_THAT(delivered_facts({"--data", "tar:" + url + "?stream=1"}), HasSubstr("24 samples"));
  }
  const auto listed = [&](const std::string& list) {
    return Words{"--source", "files", "--index", list};
  };
  const std::string photos = delivered_facts(listed(folder_.path("served/photos/list.csv")));
  EXPECT_EQ(delivered_facts(listed(http("photos/list.csv"))), photos);
  EXPECT_EQ(delivered_facts(listed(https("photos/list.csv"))), photos);
  EXPECT_EQ(delivered_facts({"--data", https("a.npy")}),
            delivered_facts({"--data", folder_.path("served/a.npy")}));
}

TEST_F(WebServerCli, UsesProxyUnlessExcluded) {
  const Words data = {"--data", "tar:http://nobody.invalid/a.tar"};
  for (const char* name : {"http_proxy", "HTTP_PROXY", "ALL_PROXY"}) {
    const Environment proxy(name, "http://127.0.0.1:" + plain_);
    EXPECT_THAT(delivered_facts(data), HasSubstr("24 samples")) << name;
  }
  const Environment proxy("HTTP_PROXY", "http://127.0.0.1:1");
  const Environment but("NO_PROXY", "127.0.0.1");
  EXPECT_THAT(delivered_facts({"--data", "tar:" + http("a.tar")}), HasSubstr("24 samples"));
}

TEST_F(WebServerCli, CountsProtocolsAndConnections) {
  const Environment trusted("CURL_CA_BUNDLE", certificate_);
  const json http2_requests = run_result({"--data", https("a.npy"), "--shuffle"}).at("requests");
  EXPECT_EQ(http2_requests.at("http2").get<double>(), http2_requests.at("sent").get<double>());
  const json http1_requests = run_result({"--data", http("a.npy"), "--shuffle"}).at("requests");
  EXPECT_EQ(http1_requests.value("http2", 0.0), 0);
  EXPECT_LE(http1_requests.at("connections").get<double>(), 10) << "connections are kept";
}

TEST_F(WebServerCli, RejectsUnsignedCertificate) {
  const Ended ended = run_binary({"run", "--data", https("a.npy"), "--device", "null"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("CURL_CA_BUNDLE"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
