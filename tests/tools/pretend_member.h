// A process of a measured job without Python: it reports by the line and the page that the guest's
// library has, what hooks in a program with PyTorch would report.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "guest/library/membership.h"
#include "guest/protocol/message_kinds.h"

namespace loaderscope::guest {

// Message about a loader with one worker.
inline nlohmann::json pretended_loader() {
  return {{"what", "loader"},      {"iterator", 0},        {"loader", 0},
          {"num_workers", 1},      {"prefetch_factor", 2}, {"batch_size", 8},
          {"samples", 80},         {"batches", 0},         {"is_opaque", false},
          {"pin_memory", false},   {"in_order", true},     {"persistent_workers", false},
          {"drop_last", false},    {"shuffle", false},     {"iterable", false},
          {"mp_context", "fork"},  {"dataset", "Photos"},  {"sampler", "SequentialSampler"},
          {"place", "train.py:12"}};
}

inline nlohmann::json trainer_hello(pid_t process = ::getpid()) {
  return {{"role", kTrainerRole}, {"rank", -1}, {"pid", process}};
}

inline nlohmann::json worker_hello(std::int64_t worker, pid_t trainer = ::getpid()) {
  return {{"role", kWorkerRole}, {"rank", -1},       {"pid", ::getpid()},
          {"trainer", trainer},  {"worker", worker}, {"iterator", 0}};
}

class PretendMember {
 public:
  // False: nothing listens there. The host may turn it away later.
  bool join(const std::string& socket_path, const nlohmann::json& hello) {
    return membership_.join(socket_path.c_str(), hello.dump().c_str()) == 0;
  }
  void say(const nlohmann::json& message) { membership_.say(message.dump().c_str()); }
  void push_event(const GuestEvent& fact) { membership_.rings()->facts.push(fact); }
  void push_event(GuestEventKind kind, std::int64_t batch, Nanos begin, Nanos end = 0) {
    GuestEvent fact;
    fact.kind = kind;
    fact.batch = batch;
    fact.begin = begin;
    fact.end = end;
    push_event(fact);
  }
  void push_span(Stage stage, std::int64_t batch, Nanos begin, Nanos end) {
    ThreadLog::Entry entry;
    entry.span.begin = begin;
    entry.span.end = end;
    entry.span.batch = packed_batch(0, 0, batch);
    entry.span.stage = stage;
    membership_.rings()->spans.push(entry);
  }
  bool must_stop() const { return membership_.must_stop(); }
  void leave() { membership_.leave(); }

 private:
  Membership membership_;
};

// A training loop and its worker, one after the other: a batch is decoded for 1 ms, and trained
// for 1 ms.
class PretendTraining {
 public:
  PretendTraining(PretendMember& trainer, PretendMember& worker)
      : trainer_(trainer), worker_(worker) {}

  void begin(const nlohmann::json& loader = pretended_loader()) {
    trainer_.say(loader);
    trainer_.push_event(GuestEventKind::epoch, -1, monotonic_now());
  }
  // False: the host has enough.
  bool train(std::int64_t batch) {
    if (trainer_.must_stop()) return false;
    const Nanos asked = monotonic_now();
    trainer_.push_event(GuestEventKind::ask, -1, asked);
    trainer_.push_event(GuestEventKind::dispatched, batch, asked);
    worker_.push_event(GuestEventKind::begun, batch, asked, asked);
    sleep_until(asked + kMillisecond);
    const Nanos made = monotonic_now();
    worker_.push_span(Stage::decode, batch, asked, made);
    GuestEvent finished;
    finished.kind = GuestEventKind::finished;
    finished.batch = batch;
    finished.begin = made;
    finished.count = 8;
    finished.bytes = 800;
    worker_.push_event(finished);
    worker_.push_event(GuestEventKind::sent, batch, made, made);
    trainer_.push_event(GuestEventKind::received, batch, made, made);
    trainer_.push_event(GuestEventKind::take, batch, monotonic_now());
    sleep_until(monotonic_now() + kMillisecond);
    return true;
  }
  void end() {
    const Nanos now = monotonic_now();
    trainer_.push_event(GuestEventKind::ask, -1, now);
    trainer_.push_event(GuestEventKind::ended, -1, now, now);
  }

 private:
  PretendMember& trainer_;
  PretendMember& worker_;
};

}  // namespace loaderscope::guest
