#include "monitor/addresses.h"

#include <gtest/gtest.h>

#include "loaderscope/errors.h"

namespace loaderscope::monitor {
namespace {

TEST(ListenAddress, ListensOnLoopbackWithoutHost) {
  for (const char* text : {":9400", "9400", "127.0.0.1:9400", "localhost:9400"})
    EXPECT_EQ(spelled(parse_listen_address(text)), "127.0.0.1:9400") << text;
  EXPECT_EQ(parse_listen_address(":0").port, 0);
}

TEST(ListenAddress, AcceptsAddressesOfBothVersions) {
  EXPECT_EQ(spelled(parse_listen_address("0.0.0.0:9400")), "0.0.0.0:9400");
  EXPECT_EQ(spelled(parse_listen_address("[::1]:9400")), "[::1]:9400");
  EXPECT_EQ(spelled(parse_listen_address("[::]:1")), "[::]:1");
}

TEST(ListenAddress, RejectsOtherTexts) {
  for (const char* text : {"", ":", "x", ":x", "-1", "65536", ":65536", "::1:9400", "[::1]", "[::1",
                           "example.com:9400", "1.2.3:9400", "127.0.0.1", "9400 ", "[::1]9400"})
    EXPECT_THROW(parse_listen_address(text), ValueError) << text;
}

TEST(CollectorUrl, AddsPathAndPort) {
  EXPECT_EQ(spelled(parse_collector_url("http://127.0.0.1:4318")),
            "http://127.0.0.1:4318/v1/metrics");
  EXPECT_EQ(spelled(parse_collector_url("http://collector/")), "http://collector:4318/v1/metrics");
  EXPECT_EQ(spelled(parse_collector_url("http://[::1]:80/otlp")),
            "http://[::1]:80/otlp/v1/metrics");
  EXPECT_EQ(spelled(parse_collector_url("http://h:1/v1/metrics")), "http://h:1/v1/metrics");
}

TEST(CollectorUrl, RejectsOtherTexts) {
  for (const char* text :
       {"", "127.0.0.1:4318", "https://a", "http://", "http://:4318", "http://u:p@h", "http://h:0",
        "http://h:x", "http://h /", "grpc://h", "http://h\r\nX: y", "http://h?x"})
    EXPECT_THROW(parse_collector_url(text), ValueError) << text;
}

}  // namespace
}  // namespace loaderscope::monitor
