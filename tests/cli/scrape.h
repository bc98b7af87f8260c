// Scrapes the metrics of a program that runs.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "cli/run_binary.h"
#include "unit/monitor/loopback.h"

namespace loaderscope::testing_cli {

// The port that a program has printed, or 0.
inline std::uint16_t printed_port(const std::string& text) {
  constexpr std::string_view kMetricsLine = "metrics: http://127.0.0.1:";
  const std::size_t at = text.find(kMetricsLine);
  return at == text.npos || text.find("/metrics", at) == text.npos
             ? 0
             : static_cast<std::uint16_t>(std::stoi(text.substr(at + kMetricsLine.size())));
}

inline constexpr int kTries = 6000;  // a minute in all
inline constexpr useconds_t kPause = 10'000;

inline std::uint16_t wait_for_port(RunningBinary& running) {
  std::uint16_t port = 0;
  for (int i = 0; i < kTries && port == 0 && !running.has_ended(); ++i) {
    port = printed_port(running.err());
    ::usleep(kPause);
  }
  EXPECT_NE(port, 0) << running.err();
  return port;
}

// Scrapes until the answer contains `text`.
inline std::string scraped(RunningBinary& running, std::uint16_t port, const std::string& text) {
  std::string answer;
  for (int i = 0; i < kTries && !running.has_ended(); ++i) {
    answer = monitor::test::ask(port, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    if (answer.find(text) != answer.npos) return answer;
    ::usleep(kPause);
  }
  ADD_FAILURE() << text << " is missing in " << answer;
  return answer;
}

}  // namespace loaderscope::testing_cli
