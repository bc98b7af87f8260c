// Ranges of an object of a server on loopback that takes 5 ms to answer: one at a time, and many.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "source/registry.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kRows = 4096, kRowBytes = 8192;
constexpr double kLatency = 5e-3;  // seconds

// A thread for each connection, which waits and then sends the requested bytes: the header of an
// array, and zeros after it.
class Server {
 public:
  Server() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, any, size) != 0 || ::listen(listener_, 128) != 0 ||
        ::getsockname(listener_, any, &size) != 0)
      std::abort();
    port_ = ntohs(address.sin_port);
    std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (" +
                       std::to_string(kRows) + ", " + std::to_string(kRowBytes) + "), }";
    text.append(117 - text.size(), ' ');
    text += '\n';
    bytes_ = std::string("\x93NUMPY\1\0\x76\0", 10) + text;
    bytes_.resize(bytes_.size() + kRows * kRowBytes);
    std::thread([this] {
      for (;;) {
        const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) return;
        std::thread([this, connection] { serve(Fd(connection)); }).detach();
      }
    }).detach();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/a.npy"; }

 private:
  void serve(const Fd& connection) const {
    std::string asked;
    std::vector<char> piece(4096);
    for (;;) {
      const auto end = asked.find("\r\n\r\n");
      if (end == asked.npos) {
        const ssize_t got = ::read(connection, piece.data(), piece.size());
        if (got <= 0) return;
        asked.append(piece.data(), static_cast<std::size_t>(got));
        continue;
      }
      const auto range = asked.find("bytes=");
      const std::size_t first = std::stoull(asked.substr(range + 6));
      const std::size_t last = std::min<std::size_t>(
          std::stoull(asked.substr(asked.find('-', range) + 1)), bytes_.size() - 1);
      asked.erase(0, end + 4);
      std::this_thread::sleep_for(std::chrono::duration<double>(kLatency));
      std::string answer = "HTTP/1.1 206 P\r\nContent-Range: bytes " + std::to_string(first) + "-" +
                           std::to_string(last) + "/" + std::to_string(bytes_.size()) +
                           "\r\nContent-Length: " + std::to_string(last - first + 1) + "\r\n\r\n";
      answer.append(bytes_, first, last - first + 1);
      for (std::size_t sent = 0; sent < answer.size();) {
        const ssize_t put =
            ::send(connection, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
        if (put <= 0) return;
        sent += static_cast<std::size_t>(put);
      }
    }
  }

  Fd listener_;
  int port_ = 0;
  std::string bytes_;
};

// of_bound: the time that latency alone would take, by the time that it took.
void ranges_in_flight(benchmark::State& state) {
  static Server& server = *new Server;
  SourceOptions options;
  options.use_index_cache = false;
  options.queue_depth = static_cast<int>(state.range(0));
  const auto source = open_source("npy", {server.url()}, options, {});
  const auto reader = source->make_reader();
  std::vector<std::int64_t> order(kRows);
  for (std::int64_t i = 0; i < kRows; ++i)
    order[static_cast<std::size_t>(i)] = i * 1237 % kRows;  // no neighbours
  const std::size_t each = 32 * static_cast<std::size_t>(state.range(0));
  std::size_t at = 0;
  for (auto _ : state) {
    if (at + each > order.size()) at = 0;
    const auto batch = std::span(order).subspan(at, each);
    reader->expect(batch);
    for (const std::int64_t sample : batch) benchmark::DoNotOptimize(reader->read(sample).data());
    at += each;
  }
  const double samples = static_cast<double>(state.iterations()) * static_cast<double>(each);
  state.SetItemsProcessed(static_cast<std::int64_t>(samples));
  state.counters["of_bound"] = benchmark::Counter(
      samples * kLatency / static_cast<double>(state.range(0)), benchmark::Counter::kIsRate);
}
BENCHMARK(ranges_in_flight)->Arg(1)->Arg(8)->Arg(32)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace loaderscope
