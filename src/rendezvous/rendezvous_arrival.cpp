// A process comes to process 0.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/secret.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "rendezvous/job_token.h"
#include "rendezvous/rendezvous.h"

namespace loaderscope {
namespace {

// Process 0 answers at once, but its host may be busy.
constexpr Nanos kFirstToAnswer = 10 * kSecond;
constexpr Nanos kComeOnceMore = kSecond / 10;

}  // namespace

void Rendezvous::come_to_first(Nanos until) {
  std::unique_ptr<Peer> peer;
  for (;;) {
    peer = std::make_unique<Peer>(connect_to(place_.addresses, place_.port, until, stop_signal_));
    if (prove_to_first(peer->connection)) break;
    // Process 0 closes connections that took too long, and when strangers crowd it.
    if (monotonic_now() >= until || (stop_signal_ != nullptr && *stop_signal_ != 0))
      throw RunError(fmt::format(
          "rendezvous: process 0 does not answer at {} port {} (it ended the connection); install "
          "one version of loaderscope on all hosts, and give each job its own MASTER_PORT",
          shown_text(place_.addresses.front()), place_.port));
    sleep_until(monotonic_now() + kComeOnceMore);
  }
  peer->number = 0;
  peer->connection.allow(kMaxWord);
  introduce_to_first(peer->connection);
  attend_to(*peer);
  peers_.push_back(std::move(peer));
}

bool Rendezvous::prove_to_first(Connection& first) {
  const Nanos until = monotonic_now() + kFirstToAnswer;
  Once once{random_bytes(kOnceBytes), ""};
  if (!first.send(MessageKind::hello, hello_of(once.of_comer))) return false;
  const std::optional<Message> challenge = next_of_first(first, until);
  if (!challenge || challenge->kind != MessageKind::challenge ||
      challenge->bytes.size() != kOnceBytes)
    return false;
  once.of_first = challenge->bytes;
  const Claim claim{digest_of_job(place_.job), place_.number, place_.processes};
  if (!first.send(MessageKind::proof, proof_of(place_.token, once, claim))) return false;
  const std::optional<Message> answer = next_of_first(first, until);
  if (!answer) return false;
  if (answer->kind == MessageKind::accepted && is_answer(place_.token, once, answer->bytes))
    return true;
  throw RunError(fmt::format(
      "rendezvous: process 0 at {} port {} has another token than this process; set {} to one "
      "random text for all processes of the job, and give each job its own MASTER_PORT",
      shown_text(place_.addresses.front()), place_.port, kTokenVariable));
}

// Returns nothing if process 0 ended, or sent nothing until then.
std::optional<Message> Rendezvous::next_of_first(Connection& first, Nanos until) const {
  for (;;) {
    if (std::optional<Message> message = first.next()) return message;
    pollfd waits{first.fd(), POLLIN, 0};
    ::poll(&waits, 1, kComeOnceMore / kMillisecond);
    if (waits.revents != 0 && !first.receive()) return first.next();
    const bool is_stopped = stop_signal_ != nullptr && *stop_signal_ != 0;
    if (monotonic_now() >= until || is_stopped) return std::nullopt;
  }
}

void Rendezvous::introduce_to_first(Connection& first) const {
  const std::string own = spelled(own_);
  if (own.size() > kMaxIntroduction)
    throw RunError(fmt::format(
        "rendezvous: the settings of the job are {} MB, and process 0 takes {}; give fewer --data",
        own.size() >> 20, kMaxIntroduction >> 20));
  if (!first.send(MessageKind::introduction, own))
    throw RunError("rendezvous: process 0 has ended; look at what it says");
}

}  // namespace loaderscope
