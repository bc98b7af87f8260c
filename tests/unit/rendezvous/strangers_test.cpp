// Strangers at the port of a job: what they send neither ends the job, nor keeps its processes out,
// nor gives them anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/secret.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "rendezvous/process_address.h"
#include "rendezvous/rendezvous.h"

namespace loaderscope {
namespace {

using testing::HasSubstr;
using testing::Not;

const Secret& token() {
  static const Secret token("a token of the tests");
  return token;
}

std::uint16_t port_of_strangers() {
  static std::atomic<int> next{10000 + static_cast<int>(::getpid()) * 41 % 9000};
  return static_cast<std::uint16_t>(next++);
}

constexpr Rendezvous::Timeouts kLong{30 * kSecond, 20 * kSecond, 30 * kSecond};
constexpr const char* kSetting = "batch-size = 8";

// Process 0 of two, which waits for the other.
class RendezvousStrangers : public testing::Test {
 protected:
  void SetUp() override {
    first_ = std::async(std::launch::async, [this] { return met(0, token()); });
  }
  // Checks that strangers disturbed nothing: the other process comes, and all is well.
  void TearDown() override {
    if (!first_.valid()) return;
    const auto second = met(1, token());
    const auto first = first_.get();
    EXPECT_EQ(first->ranks(), 2);
    EXPECT_EQ(first->failure(), "");
    EXPECT_EQ(second->failure(), "");
  }

  std::unique_ptr<Rendezvous> met(std::int64_t number, const Secret& with) const {
    ProcessAddress place{number, 2, {"127.0.0.1"}, port_, "job", {}, with};
    return std::make_unique<Rendezvous>(std::move(place), HelloMessage{"1.0", "host", kSetting},
                                        kLong);
  }
  std::string why_refused(const Secret& with) const {
    try {
      met(1, with);
    } catch (const RunError& error) {
      return error.what();
    }
    return "";
  }
  Fd stranger() const { return connect_to({"127.0.0.1"}, port_, monotonic_now() + 5 * kSecond); }

  const std::uint16_t port_ = port_of_strangers();
  std::future<std::unique_ptr<Rendezvous>> first_;
};

bool send_all(int socket, const std::string& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

// All that the other end says until it ends the connection. "" for a connection that is reset.
std::string said_until_the_end(int socket) {
  std::string said;
  char buffer[4096];
  for (;;) {
    pollfd waits{socket, POLLIN, 0};
    if (::poll(&waits, 1, 20'000) <= 0) return said + " and did not end";
    const ssize_t n = ::recv(socket, buffer, sizeof buffer, 0);
    if (n <= 0) return said;
    said.append(buffer, static_cast<std::size_t>(n));
  }
}

std::optional<Message> next_message(Connection& connection) {
  for (int i = 0; i < 200; ++i) {
    if (auto message = connection.next()) return message;
    pollfd waits{connection.fd(), POLLIN, 0};
    ::poll(&waits, 1, 100);
    if (waits.revents != 0 && !connection.receive()) return connection.next();
  }
  return std::nullopt;
}

TEST_F(RendezvousStrangers, IgnoresAHelloOfAnotherVersion) {
  for (const std::string text :
       {"loaderscope meeting 3\njob\n0.9\n1\n2\n1\nhost\n\n\n0\n\nbatch-size = 9",
        "loaderscope meeting 5\n01234567890123456789012345678901"}) {
    const Fd one = stranger();
    ASSERT_TRUE(send_all(one, framed(MessageKind::hello, text)));
    EXPECT_EQ(said_until_the_end(one), "");
  }
}

TEST_F(RendezvousStrangers, KeepsSettingsAndVersionFromStrangers) {
  Connection one(stranger());
  const Once own{random_bytes(kOnceBytes), ""};
  ASSERT_TRUE(one.send(MessageKind::hello, hello_text(own.comer_once)));
  const auto challenge = next_message(one);
  ASSERT_TRUE(challenge);
  EXPECT_EQ(challenge->kind, MessageKind::challenge);
  EXPECT_EQ(challenge->bytes.size(), kOnceBytes);
  const Once once{own.comer_once, challenge->bytes};
  const std::string wrong =
      make_proof(Secret("what a stranger guesses"), once, {digest_of_job("job"), 1, 2});
  ASSERT_TRUE(one.send(MessageKind::proof, wrong));
  EXPECT_EQ(said_until_the_end(one.fd()), framed(MessageKind::refusal, ""));
}

TEST_F(RendezvousStrangers, RefusesAnotherTokenInOneSentence) {
  const std::string why = why_refused(Secret("a token of another user"));
  EXPECT_THAT(why, HasSubstr("has another token than this process; set LOADERSCOPE_TOKEN to one"));
  EXPECT_THAT(why, Not(HasSubstr("batch-size")));
}

TEST_F(RendezvousStrangers, AdmitsAProcessDespiteIdleConnections) {
  std::vector<Fd> idle;
  for (int i = 0; i < 600; ++i) idle.push_back(stranger());
}

TEST_F(RendezvousStrangers, CutsOffAStrangerThatClaimsAGigabyte) {
  const Fd one = stranger();
  for (const MessageKind kind : {MessageKind::hello, MessageKind::record}) {
    std::string claimed = framed(kind, "");
    claimed[0] = 0x40;
    send_all(one, claimed + std::string(1000, 'x'));
  }
  EXPECT_EQ(said_until_the_end(one), "");
}

// The deadline is 2 s. It does not begin again with each byte.
TEST_F(RendezvousStrangers, CutsOffAStrangerThatSendsAByteAtATime) {
  const Fd one = stranger();
  const std::string hello = framed(MessageKind::hello, hello_text(random_bytes(kOnceBytes)));
  std::size_t taken = 0;
  for (; taken < hello.size(); ++taken) {
    pollfd waits{one, POLLIN, 0};
    if (::poll(&waits, 1, 200) > 0 || !send_all(one, hello.substr(taken, 1))) break;
  }
  EXPECT_LT(taken, hello.size() - 1) << "that took more than 10 s";
}

TEST_F(RendezvousStrangers, CutsOffManySmallMessagesAtTheFirst) {
  const Fd one = stranger();
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += framed(MessageKind::beat, "");
  send_all(one, many);
  EXPECT_EQ(said_until_the_end(one), "");
}

TEST_F(RendezvousStrangers, IgnoresGarbage) {
  for (int i = 0; i < 20; ++i) {
    const Fd one = stranger();
    send_all(one, random_bytes(1 + 97 * static_cast<std::size_t>(i)));
  }
  const Fd proof_first = stranger();
  send_all(proof_first, framed(MessageKind::proof, random_bytes(100)));
  EXPECT_EQ(said_until_the_end(proof_first), "");
}

// Passes on what both ends say, and keeps what the comer said.
std::string relayed(const Fd& comer, const Fd& first) {
  std::string said;
  char buffer[4096];
  for (;;) {
    pollfd waits[2] = {{comer, POLLIN, 0}, {first, POLLIN, 0}};
    if (::poll(waits, 2, 20'000) <= 0) return said;
    for (int from = 0; from < 2; ++from) {
      if (waits[from].revents == 0) continue;
      const ssize_t n = ::recv(waits[from].fd, buffer, sizeof buffer, 0);
      if (n <= 0) return said;
      send_all(waits[1 - from].fd, {buffer, static_cast<std::size_t>(n)});
      if (from == 0) said.append(buffer, static_cast<std::size_t>(n));
    }
  }
}

TEST_F(RendezvousStrangers, RefusesReplayedWords) {
  const Fd listener = listen_everywhere(0);
  auto said = std::async(std::launch::async, [&] {
    pollfd waits{listener, POLLIN, 0};
    ::poll(&waits, 1, 20'000);
    const Fd comer(::accept(listener, nullptr, nullptr)), first = stranger();
    return relayed(comer, first);
  });
  {
    ProcessAddress place{1, 2, {"127.0.0.1"}, listening_port(listener), "job", {}, token()};
    const Rendezvous second(std::move(place), HelloMessage{"1.0", "host", kSetting}, kLong);
    EXPECT_EQ(first_.get()->failure(), "");
  }
  const std::string words = said.get();
  ASSERT_THAT(words, HasSubstr(kSetting));
  SetUp();  // the same job again, at the same port
  const Fd replayed = stranger();
  ASSERT_TRUE(send_all(replayed, words.substr(0, words.find(kSetting))));
  const std::string answer = said_until_the_end(replayed);
  EXPECT_THAT(answer, HasSubstr(framed(MessageKind::refusal, "")));
  EXPECT_EQ(answer.size(), framed(MessageKind::challenge, random_bytes(kOnceBytes)).size() +
                               framed(MessageKind::refusal, "").size());
}

TEST(Impostor, ReceivesNoSetting) {
  const Fd listener = listen_everywhere(0);
  auto said = std::async(std::launch::async, [&] {
    pollfd waits{listener, POLLIN, 0};
    ::poll(&waits, 1, 20'000);
    const Fd comer(::accept(listener, nullptr, nullptr));
    send_all(comer, framed(MessageKind::challenge, random_bytes(kOnceBytes)) +
                        framed(MessageKind::accepted, random_bytes(32)));
    return said_until_the_end(comer);
  });
  ProcessAddress place{1, 2, {"127.0.0.1"}, listening_port(listener), "job", {}, token()};
  try {
    const Rendezvous meeting(std::move(place), HelloMessage{"1.0", "host", kSetting}, kLong);
    ADD_FAILURE() << "an impostor is process 0";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has another token than this process"));
  }
  const std::string all = said.get();
  EXPECT_THAT(all, Not(HasSubstr(kSetting)));
  EXPECT_THAT(all, Not(HasSubstr("did not end")));
}

TEST(InboxTest, MovesNoMoreBytesThanArrive) {
  Inbox inbox;
  inbox.allow(kMaxWord);
  std::string stream;
  for (int i = 0; i < 100'000; ++i) stream += framed(MessageKind::beat, "");
  int taken = 0;
  for (std::size_t at = 0, room = 0; at < stream.size(); at += room) {
    room = std::min(inbox.room(), stream.size() - at);
    inbox.add(stream.substr(at, room));
    for (int i = 0; i < 300 && inbox.next(); ++i) ++taken;
  }
  while (inbox.next()) ++taken;
  EXPECT_EQ(taken, 100'000);
  EXPECT_LE(inbox.moved(), stream.size());
}

TEST(InboxTest, TakesMessagesHoweverTheyAreCut) {
  const std::string bytes = framed(MessageKind::hello, "abc") + framed(MessageKind::go, "") +
                            framed(MessageKind::lost, std::string(1000, 'x'));
  for (const std::size_t step : {1U, 2U, 3U, 7U, 500U, 2000U}) {
    Inbox inbox;
    std::vector<std::string> taken;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      inbox.add(bytes.substr(at, step));
      while (const auto message = inbox.next()) taken.push_back(message->bytes);
    }
    EXPECT_EQ(taken, (std::vector<std::string>{"abc", "", std::string(1000, 'x')})) << step;
    EXPECT_FALSE(inbox.has_partial_message());
  }
}

TEST(InboxTest, HoldsOneMessageOfLargestSize) {
  Inbox inbox;
  const std::string largest = framed(MessageKind::hello, std::string(kMaxOfStranger, 'x'));
  EXPECT_EQ(inbox.room(), largest.size());
  inbox.add(largest);
  EXPECT_EQ(inbox.room(), 0U);
  EXPECT_FALSE(inbox.is_too_long());
  EXPECT_TRUE(inbox.next());
  inbox.add(framed(MessageKind::hello, std::string(kMaxOfStranger + 1, 'x')).substr(0, 5));
  EXPECT_TRUE(inbox.is_too_long());
  EXPECT_FALSE(inbox.next());
}

TEST(Handshake, AcceptsProofOfOneTokenClaimAndTime) {
  const Once once{random_bytes(kOnceBytes), random_bytes(kOnceBytes)};
  const std::string proof = make_proof(token(), once, {"j", 3, 7});
  const auto claim = proven_claim(token(), once, proof);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->job, "j");
  EXPECT_EQ(claim->number, 3);
  EXPECT_EQ(claim->processes, 7);
  EXPECT_FALSE(proven_claim(Secret("another"), once, proof));
  EXPECT_FALSE(proven_claim(token(), {once.comer_once, random_bytes(kOnceBytes)}, proof));
  EXPECT_FALSE(proven_claim(token(), {once.first_once, once.comer_once}, proof));
  for (std::size_t i = 0; i < proof.size(); ++i) {
    std::string changed = proof;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(proven_claim(token(), once, changed));
    EXPECT_FALSE(proven_claim(token(), once, proof.substr(0, i)));
  }
  EXPECT_TRUE(is_answer(token(), once, make_answer(token(), once)));
  EXPECT_FALSE(is_answer(token(), once, proof.substr(0, kOnceBytes)));
  EXPECT_FALSE(is_answer(Secret("another"), once, make_answer(token(), once)));
}

TEST(Listening, UsesOnlyAddressOfJob) {
  const std::vector<Fd> listeners = listen_at({"127.0.0.1"}, 0);
  ASSERT_EQ(listeners.size(), 1U);
  const std::uint16_t port = listening_port(listeners.front());
  const Nanos soon = monotonic_now() + 2 * kSecond;
  EXPECT_GE(connect_to({"127.0.0.1"}, port, soon), 0);
  EXPECT_THROW(connect_to({"127.0.0.2"}, port, monotonic_now()), RunError);
}

// An example is the name of a forwarding service, whose address is not of this host.
TEST(Listening, UsesAllAddressesIfNoneIsOfThisHost) {
  const std::vector<Fd> listeners = listen_at({"192.0.2.1", "no-such-host.invalid"}, 0);
  ASSERT_EQ(listeners.size(), 1U);
  EXPECT_GE(connect_to({"127.0.0.2"}, listening_port(listeners.front()), monotonic_now() + kSecond),
            0);
}

}  // namespace
}  // namespace loaderscope
