// Processes that meet over TCP: threads on loopback.
#include "rendezvous/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_meter.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::uint16_t next_port() {
  static std::atomic<int> next{20000 + static_cast<int>(::getpid()) * 37 % 9000};
  return static_cast<std::uint16_t>(next++);
}

ProcessAddress make_address(std::int64_t number, std::int64_t processes, std::uint16_t port) {
  return {number, processes, {"127.0.0.1"}, port, "job", {}, Secret("a token of the tests")};
}

HelloMessage make_hello(std::int64_t number) {
  return {"1.0", "host" + std::to_string(number), "seed = 0\nbatch-size = 8", 2};
}

constexpr Rendezvous::Timeouts kShort{3 * kSecond, 2 * kSecond, 3 * kSecond};

struct Job {
  explicit Job(std::int64_t processes) {
    const std::uint16_t port = next_port();
    std::vector<std::future<std::unique_ptr<Rendezvous>>> coming;
    for (std::int64_t i = 0; i < processes; ++i)
      coming.push_back(std::async(std::launch::async, [=] {
        return std::make_unique<Rendezvous>(make_address(i, processes, port), make_hello(i),
                                            kShort);
      }));
    for (auto& one : coming) all.push_back(one.get());
  }
  std::vector<std::unique_ptr<Rendezvous>> all;
};

template <class F>
bool soon(F is_so) {
  const Nanos until = monotonic_now() + 60 * kSecond;
  while (!is_so() && monotonic_now() < until) ::usleep(1000);
  return is_so();
}

TEST(MeetingTest, NumbersRanksOverProcesses) {
  const Job job(3);
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(job.all[static_cast<std::size_t>(i)]->first_rank(), 2 * i);
    EXPECT_EQ(job.all[static_cast<std::size_t>(i)]->ranks(), 6);
  }
}

TEST(MeetingTest, SendsUsableCpusToFirst) {
  const std::uint16_t port = next_port();
  const auto with_cpus = [](std::int64_t number, const UsableCpus& cpus) {
    HelloMessage own = make_hello(number);
    own.cpus = cpus;
    return own;
  };
  auto coming = std::async(std::launch::async, [&] {
    return std::make_unique<Rendezvous>(make_address(0, 3, port), with_cpus(0, {"0-3", 0}), kShort);
  });
  auto limited = std::async(std::launch::async, [&] {
    return std::make_unique<Rendezvous>(make_address(1, 3, port),
                                        with_cpus(1, {"4-7,9", 2.5, "25:70"}), kShort);
  });
  const Rendezvous unknown(make_address(2, 3, port), make_hello(2), kShort);
  const auto first = coming.get(), other = limited.get();
  EXPECT_EQ(first->find_cpus(0).list, "0-3");
  EXPECT_EQ(first->find_cpus(1).list, "4-7,9");
  EXPECT_EQ(first->find_cpus(1).quota, 2.5);
  EXPECT_EQ(first->find_cpus(1).group, "25:70");
  EXPECT_EQ(first->find_cpus(2).list, "");
  EXPECT_EQ(first->find_cpus(2).quota, 0);
}

TEST(MeetingTest, MeasuresClocksWithinError) {
  const Job job(2);
  for (const ClockDifference& clock : {job.all[1]->clock(), job.all[1]->compare_clocks()}) {
    EXPECT_GT(clock.error, 0);
    EXPECT_LE(std::abs(clock.offset), clock.error);
  }
}

TEST(MeetingTest, BeginsStepWhenLastRankIsReady) {
  const Job job(3);
  const Nanos at = monotonic_now();
  std::atomic<int> calls{0};
  job.all[2]->on_begin([&] { ++calls; });
  job.all[0]->ready(0, at);
  job.all[2]->ready(0, at + kSecond);
  ::usleep(50'000);
  EXPECT_FALSE(job.all[0]->find_begin(0));
  job.all[1]->ready(0, at + kMillisecond);
  // The time goes from the clock of process 2 to that of process 0, and from there to each.
  Nanos error = 0;
  for (const auto& one : job.all) error += one->clock().error;
  for (const auto& one : job.all) {
    ASSERT_TRUE(soon([&] { return one->find_begin(0).has_value(); }));
    EXPECT_LE(std::abs(*one->find_begin(0) - (at + kSecond)), error);
  }
  EXPECT_TRUE(soon([&] { return calls > 0; }));
}

TEST(MeetingTest, EndsAllWithFirst) {
  const Job job(3);
  job.all[1]->end_after(7);
  for (const auto& one : job.all) EXPECT_TRUE(soon([&] { return one->is_over(7); }));
  job.all[0]->end_after(5);
  EXPECT_FALSE(job.all[0]->is_over(6));
  EXPECT_EQ(job.all[2]->failure(), "");
}

TEST(MeetingTest, SendsWindowOfFirstToAll) {
  const Job job(3);
  EXPECT_EQ(job.all[2]->window().folded, 0);
  job.all[0]->publish_window({7, 5, false});
  for (const auto& one : job.all) {
    EXPECT_TRUE(soon([&] { return one->window().folded == 7; }));
    EXPECT_EQ(one->window().first_measured, 5);
    EXPECT_FALSE(one->window().ended);
  }
  job.all[0]->publish_window({9, 5, true});
  for (const auto& one : job.all) {
    EXPECT_TRUE(soon([&] { return one->window().ended; }));
    EXPECT_EQ(one->window().folded, 9);
    EXPECT_FALSE(one->is_over(8));
    EXPECT_TRUE(one->is_over(9));
  }
}

using Records = std::vector<std::string>;

Records gathered(Rendezvous& first) {
  Records records;
  first.gather([&](std::int64_t process, std::string bytes) {
    EXPECT_EQ(process, std::ssize(records) + 1);
    records.push_back(std::move(bytes));
  });
  return records;
}

std::future<void> handing_over(Rendezvous& meeting, const std::string& bytes) {
  return std::async(std::launch::async, [&meeting, bytes] { meeting.hand_over(bytes); });
}

TEST(MeetingTest, ReceivesRecordsInOrderOfProcesses) {
  const Job job(7);
  Records given;
  std::vector<std::future<void>> handing;
  for (std::size_t i = 1; i < 7; ++i) given.push_back(std::string(1'000'000 * (7 - i), 'x'));
  for (std::size_t i = 7; --i > 0;) handing.push_back(handing_over(*job.all[i], given[i - 1]));
  EXPECT_EQ(gathered(*job.all[0]), given);
  for (auto& one : handing) one.get();
}

TEST(MeetingTest, NamesEndedProcessToAll) {
  Job job(3);
  job.all[1].reset();
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    EXPECT_TRUE(soon([&] { return job.all[i]->is_over(0); }));
    EXPECT_THAT(job.all[i]->failure(), HasSubstr("process 1 on host1 has ended"));
  }
  auto two = handing_over(*job.all[2], "two");
  EXPECT_EQ(gathered(*job.all[0]), (Records{"", "two"}));
  two.get();
}

TEST(MeetingTest, ReportsReasonOfFailureToAll) {
  const Job job(3);
  job.all[1]->give_up("its disk is full");
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    EXPECT_TRUE(soon([&] { return job.all[i]->is_over(0); }));
    EXPECT_EQ(job.all[i]->failure(), "process 1 on host1: its disk is full");
  }
}

// Process 1 still sends heartbeats.
TEST(MeetingTest, LimitsWaitForMissingRecord) {
  const Job job(3);
  auto two = handing_over(*job.all[2], "two");
  EXPECT_EQ(gathered(*job.all[0]), (Records{"", "two"}));
  EXPECT_THAT(job.all[0]->failure(),
              HasSubstr("process 1 on host1 lives and has handed nothing over for 3"));
  two.get();
}

TEST(MeetingTest, WaitsForProcessThatMakesProgress) {
  const Job job(2);
  auto one = std::async(std::launch::async, [&] {
    const Nanos until = monotonic_now() + 5 * kSecond;
    for (std::int64_t steps = 0; monotonic_now() < until; ++steps) {
      job.all[1]->is_over(steps);
      ::usleep(100'000);
    }
    job.all[1]->hand_over("one");
  });
  EXPECT_EQ(gathered(*job.all[0]), Records{"one"});
  EXPECT_EQ(job.all[0]->failure(), "");
  one.get();
}

TEST(MeetingTest, LimitsWaitForProcessThatTakesNothing) {
  Job job(2);
  auto one = handing_over(*job.all[1], "one");
  EXPECT_THROW(one.get(), RunError);
  EXPECT_THAT(job.all[1]->failure(), HasSubstr("process 0 at 127.0.0.1 lives and has "));
}

TEST(MeetingTest, NamesProcessThatIsNotReady) {
  const Job job(3);
  EXPECT_EQ(job.all[0]->awaited(), "");
  job.all[0]->ready(0, monotonic_now());
  job.all[2]->ready(0, monotonic_now());
  EXPECT_TRUE(soon([&] { return job.all[0]->awaited() == "process 1 on host1"; }));
}

TEST(MeetingTest, StopsOnSignalBeforeAllHaveCome) {
  StopSignal stop{0};
  auto first = std::async(std::launch::async, [&] {
    const Rendezvous meeting(make_address(0, 2, next_port()), make_hello(0), {}, &stop);
  });
  ::usleep(100'000);
  stop = 2;
  EXPECT_THROW(first.get(), RunError);
}

std::string join_failure(ProcessAddress place, const HelloMessage& own) {
  try {
    const Rendezvous meeting(std::move(place), own, kShort);
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

void expect_refused(const HelloMessage& other, const std::string& why) {
  const std::uint16_t port = next_port();
  auto first = std::async(std::launch::async,
                          [=] { return join_failure(make_address(0, 2, port), make_hello(0)); });
  EXPECT_THAT(join_failure(make_address(1, 2, port), other), HasSubstr(why));
  EXPECT_THAT(first.get(), HasSubstr(why));
}

TEST(MeetingTest, RejectsAnotherVersion) {
  HelloMessage other = make_hello(1);
  other.version = "0.9";
  expect_refused(other, "process 1 on host1 is loaderscope 0.9, and process 0 is 1.0");
}

TEST(MeetingTest, RejectsOtherSettings) {
  HelloMessage other = make_hello(1);
  other.settings = "seed = 0\nbatch-size = 9";
  expect_refused(other, "has 'batch-size = 9', and process 0 has 'batch-size = 8'");
  // A setting that only one process has is named, and not the settings after it.
  other.settings = "compute = 50ms\n" + make_hello(1).settings;
  expect_refused(other, "has 'compute = 50ms', and process 0 has no such setting");
}

TEST(MeetingTest, AcceptsManySettings) {
  const std::uint16_t port = next_port();
  HelloMessage own = make_hello(0);
  for (int i = 0; i < 10'000; ++i) own.settings += "\ndata = /a/folder/" + std::to_string(i);
  auto first =
      std::async(std::launch::async, [=] { return join_failure(make_address(0, 2, port), own); });
  EXPECT_EQ(join_failure(make_address(1, 2, port), own), "");
  EXPECT_EQ(first.get(), "");
}

TEST(MeetingTest, RejectsMoreRanksThanProcessCanHave) {
  const std::uint16_t port = next_port();
  auto first = std::async(std::launch::async,
                          [=] { return join_failure(make_address(0, 2, port), make_hello(0)); });
  HelloMessage other = make_hello(1);
  other.ranks = 1'000'001;
  EXPECT_THAT(join_failure(make_address(1, 2, port), other), HasSubstr("has 1000001 ranks"));
  EXPECT_THAT(first.get(), HasSubstr("(one was refused: process 1 has 1000001 ranks"));
}

TEST(MeetingTest, DisconnectsAndReportsLongMessages) {
  const std::uint16_t port = next_port();
  auto first = std::async(std::launch::async,
                          [=] { return join_failure(make_address(0, 2, port), make_hello(0)); });
  const Fd noise = connect_to({"127.0.0.1"}, port, monotonic_now() + kSecond);
  EXPECT_EQ(::write(noise, "GET / HTTP/1.1\r\n\r\n", 18), 18);
  EXPECT_THAT(first.get(), HasSubstr("(one was refused: what it said was longer"));
}

// Sockets that any epoll of this process waits for.
std::vector<int> waited_for() {
  std::vector<int> sockets;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream info(entry.path());
    for (std::string word; info >> word;)
      if (int socket = -1; word == "tfd:" && info >> socket) sockets.push_back(socket);
  }
  return sockets;
}

// Workers that are forked meanwhile have copies of the socket too.
TEST(MeetingTest, ForgetsSilentStrangerWithCopiedSocket) {
  const std::size_t before = waited_for().size();
  const std::uint16_t port = next_port();
  StopSignal stop{0};
  auto first = std::async(std::launch::async, [&] {
    const Rendezvous::Timeouts patience{60 * kSecond, kSecond, 60 * kSecond};
    const Rendezvous meeting(make_address(0, 2, port), make_hello(0), patience, &stop);
  });
  const Fd stranger = connect_to({"127.0.0.1"}, port, monotonic_now() + 3 * kSecond);
  EXPECT_TRUE(soon([&] { return waited_for().size() == before + 2; }));  // and the listener
  std::vector<Fd> copies;
  // Not by dup(), in which a sanitizer sees a thread that uses another's descriptors.
  for (const int socket : waited_for())
    copies.emplace_back(static_cast<int>(::syscall(SYS_dup, socket)));
  EXPECT_TRUE(soon([&] { return waited_for().size() == before + 1; }));
  EXPECT_EQ(::write(stranger, "late", 4), 4);
  stop = SIGINT;
  EXPECT_THROW(first.get(), RunError);
}

TEST(MeetingTest, RejectsAnotherJobWithoutDisturbance) {
  const std::uint16_t port = next_port();
  auto first = std::async(std::launch::async, [=] {
    return std::make_unique<Rendezvous>(make_address(0, 2, port), make_hello(0), kShort);
  });
  ProcessAddress stranger = make_address(1, 2, port);
  stranger.job = "other";
  EXPECT_THAT(join_failure(std::move(stranger), make_hello(1)), HasSubstr("another job meets"));
  const Fd noise = connect_to({"127.0.0.1"}, port, monotonic_now() + kSecond);
  EXPECT_EQ(::write(noise, "GET / HTTP/1.1\r\n\r\n", 18), 18);
  const Rendezvous second(make_address(1, 2, port), make_hello(1), kShort);
  EXPECT_EQ(first.get()->ranks(), 4);
}

TEST(MeetingTest, ReportsRejectedProcessIfOneIsMissing) {
  const std::uint16_t port = next_port();
  auto first = std::async(std::launch::async,
                          [=] { return join_failure(make_address(0, 2, port), make_hello(0)); });
  EXPECT_THAT(join_failure(make_address(1, 3, port), make_hello(1)),
              HasSubstr("process 1 of 3 came to process 0 of 2"));
  EXPECT_THAT(first.get(), HasSubstr("(one was refused: process 1 of 3"));
}

TEST(MeetingTest, NamesMissingProcesses) {
  EXPECT_THAT(join_failure(make_address(0, 3, next_port()), make_hello(0)),
              HasSubstr("process 1, 2 did not come within 3"));
  EXPECT_THAT(join_failure(make_address(1, 2, next_port()), make_hello(1)),
              HasSubstr("process 0 does not answer"));
}

std::string failure_to_connect(const std::string& address, std::uint16_t port, Nanos wait,
                               const StopSignal& stop) {
  try {
    connect_to({address}, port, monotonic_now() + wait, &stop);
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

TEST(MeetingTest, ReportsUnknownAddressOnSignal) {
  const StopSignal stop{SIGINT};
  EXPECT_THAT(failure_to_connect("no-such-host.invalid", next_port(), 60 * kSecond, stop),
              AllOf(HasSubstr("process 0 does not answer at no-such-host.invalid port "),
                    Not(HasSubstr("(Success)")), Not(HasSubstr("()"))));
}

// Gives the calling thread its own network, in which every connection gets this port. Returns false
// if that is not allowed.
bool has_one_port(std::uint16_t port) {
  if (::unshare(CLONE_NEWNET) != 0) return false;
  ifreq loopback{};
  std::strcpy(loopback.ifr_name, "lo");
  loopback.ifr_flags = IFF_UP;
  const Fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::ioctl(any, SIOCSIFFLAGS, &loopback) != 0) return false;
  std::ofstream ports("/proc/sys/net/ipv4/ip_local_port_range");
  ports << port << ' ' << port << std::endl;
  return ports.good();
}

TEST(MeetingTest, RejectsConnectionToItself) {
  constexpr std::uint16_t kPort = 30001;
  auto tried = std::async(std::launch::async, [] {
    const StopSignal stop{0};
    return has_one_port(kPort) ? failure_to_connect("127.0.0.1", kPort, kSecond, stop)
                               : std::string("not allowed");
  });
  const std::string failure = tried.get();
  if (failure == "not allowed") GTEST_SKIP() << "no network namespaces";
  EXPECT_THAT(failure, HasSubstr("process 0 does not answer at 127.0.0.1 port 30001"));
}

TEST(MeetingTest, AcceptsOpenListenerAndManyAddresses) {
  const Fd listener = listen_everywhere(0);
  const std::uint16_t port = listening_port(listener);
  EXPECT_GT(port, 0);
  ProcessAddress first = make_address(0, 2, port), other = make_address(1, 2, port);
  first.listeners.emplace_back(::dup(listener));
  other.addresses = {"127.0.0.1", "::1"};
  other.addresses.insert(other.addresses.begin(), "no-such-host.invalid");
  auto coming = std::async(std::launch::async, [&] {
    return std::make_unique<Rendezvous>(std::move(first), make_hello(0), kShort);
  });
  const Rendezvous second(std::move(other), make_hello(1), kShort);
  EXPECT_EQ(coming.get()->ranks(), second.ranks());
}

TEST(MeetingTest, LeavesOutMissingProcessOnSignal) {
  const Job job(2);
  StopSignal stop{0};
  std::string got = "nothing was said";
  auto gathered = std::async(std::launch::async, [&] {
    job.all[0]->gather([&](std::int64_t, std::string bytes) { got = std::move(bytes); }, &stop);
  });
  ::usleep(50'000);
  stop = SIGINT;
  gathered.get();
  EXPECT_EQ(got, "");
}

}  // namespace
}  // namespace loaderscope
