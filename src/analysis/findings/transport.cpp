// Findings about batches on their way from the workers to the trainer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/findings/finding_input.h"
#include "analysis/totals.h"
#include "analysis/verdict.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

// Returns the ns that workers worked on batches, without run-queue delay.
Nanos making_time(const FindingInput& facts) {
  Nanos sum = 0;
  for (const Stage stage : kMakingStages)
    sum += facts.stages[stage].wall - facts.stages[stage].queued;
  return sum;
}

// Threads write into the batch that the trainer takes: nothing is sent.
bool hands_over_places(const FindingInput& facts) {
  return facts.config.loader.executor == Executor::threads &&
         facts.stages[Stage::transport].count == 0 &&
         facts.stages[Stage::transport_recv].count == 0;
}

// Descriptors that carry a program's batches in shared memory. The trainer asks the worker for each
// one.
struct Pieces {
  double per_batch = 0, asked_s = 0;  // s, except waits for a worker that makes batches
  bool are_many = false;              // true if asking for them takes most of the time of a batch
};

Pieces count_pieces(const FindingInput& facts) {
  constexpr double kMany = 16, kMaxOfIt = 0.5;
  const StageStats& received = facts.stages[Stage::transport_recv];
  Pieces pieces;
  pieces.per_batch = facts.metric(metric::transport_descriptors);
  pieces.asked_s =
      facts.metric(metric::transport_descriptors_s) - facts.metric(metric::transport_busy_worker_s);
  if (received.count == 0) return pieces;
  const double mean_s = seconds(received.wall) / static_cast<double>(received.count);
  pieces.asked_s = std::min(pieces.asked_s, mean_s);
  pieces.are_many = pieces.per_batch >= kMany && pieces.asked_s >= kMaxOfIt * mean_s;
  return pieces;
}

// "; a batch is in 300 pieces of shared memory, and the trainer asks its worker for each, 38 ms"
std::string pieces_words(const Pieces& pieces) {
  if (!pieces.are_many) return "";
  return fmt::format(
      "; a batch is in {:.0f} pieces of shared memory, and the trainer asks its "
      "worker for each, {} all together",
      pieces.per_batch,
      format_duration(std::llround(pieces.asked_s * static_cast<double>(kSecond))));
}

// Work of a worker to send a batch, as far as known: shares of its time.
struct Packed {
  double pickled = 0, pickled_bytes = 0, copied = 0, copied_bytes = 0;
  double state_bytes = 0;  // pickled bytes of the loader's state
  double tensors = 0;      // tensors per batch in shared memory; pickled data describes them
  // Most of it is ...
  bool is_pickling() const { return pickled > 0.5 && !is_tensors_alone(); }
  bool is_tensors_alone() const {
    constexpr double kTensorBytes =
        2048;  // bytes of a description, and of what is around all of them
    return tensors > 0 && pickled_bytes > 0 &&
           pickled_bytes - state_bytes <= kTensorBytes * (1 + tensors);
  }
  bool is_copying() const { return copied > 0.5; }
  bool is_state() const { return 2 * state_bytes > pickled_bytes; }
};

Packed packed_by(const FindingInput& facts) {
  return {
      facts.metric(metric::transport_pickled_share),
      facts.metric(metric::transport_pickled_bytes),
      facts.metric(metric::transport_copied_share),
      facts.metric(metric::transport_copied_bytes),
      facts.metric(metric::state_bytes) * std::min(1.0, facts.metric(metric::state_worker_share)),
      facts.metric(metric::transport_descriptors)};
}

// "; of sending, pickling 4.10 MB is 20.0 % and copying 12.0 MB of tensors into shared memory 70.0
// %"
std::string packed_words(const Packed& packed) {
  constexpr double kWorthSayingOfIt = 0.1;
  std::vector<std::string> words;
  const auto add = [&](const char* what, double bytes, const char* noun, double share) {
    if (share < kWorthSayingOfIt) return;
    words.push_back(fmt::format("{} {}{}{} {}", what, format_size(bytes), noun,
                                words.empty() ? " is" : "", format_percent(share)));
  };
  add("pickling", packed.pickled_bytes, "", packed.pickled);
  add("copying", packed.copied_bytes, " of tensors into shared memory", packed.copied);
  std::string text =
      words.empty() ? "" : fmt::format("; of sending, {}", fmt::join(words, " and "));
  if (packed.is_state())
    text += fmt::format("; {} of a batch are the loader's state", format_size(packed.state_bytes));
  return text;
}

constexpr const char* kFewerPieces =
    "few large tensors per batch in place of many small ones; else "
    "torch.multiprocessing.set_sharing_strategy(\"file_system\"), by which nothing is asked for";

std::string way_to_send_less(const FindingInput& facts, const Pieces& pieces,
                             const Packed& packed) {
  if (packed.is_state())
    return loader_words(facts.record, {"snapshot_every_n_steps=100"}) +
           ", by which the loader's state is sent with each 100th batch only";
  if (pieces.are_many) return kFewerPieces;
  if (packed.is_copying())
    return "end collate_fn with torch.utils.data.default_collate, which stacks samples where the "
           "trainer finds them; other tensors are copied into shared memory when they are sent";
  if (packed.is_pickling())
    return "tensors in place of arrays, strings and lists of Python objects: a batch's tensors "
           "travel in shared memory, all else is pickled, written into a pipe and unpickled";
  if (packed.is_tensors_alone())
    return "fewer bytes per batch (uint8, float16), or larger batches: a batch is tensors only, "
           "which travel in shared memory";
  return "few large tensors per batch, which travel in shared memory; "
         "lists of Python objects are pickled";
}

// If sending a batch takes longer than making it, the trainer should make it itself.
std::optional<Candidate> without_hand_over(const FindingInput& facts) {
  const StageStats &sent = facts.stages[Stage::transport],
                   &received = facts.stages[Stage::transport_recv];
  const Nanos made = making_time(facts);
  if (sent.count == 0 || made == 0 || facts.config.loader.executor != Executor::processes)
    return std::nullopt;
  if (made >= sent.wall + received.wall) return std::nullopt;
  const Pieces pieces = count_pieces(facts);
  const Packed packed = packed_by(facts);
  // The trainer would make the batches itself: the time for that stays, all other waits end.
  const auto ranks = static_cast<double>(std::max<std::size_t>(1, facts.record.ranks.size()));
  const double waits =
      facts.share(Cause::transport) + waits_for_workers(facts) - facts.share(made) / ranks;
  const bool has_other_way =
      pieces.are_many || packed.is_copying() || packed.is_pickling() || packed.is_state();
  Candidate candidate{
      fmt::format("batches take {} to make and longer to hand over, sending {} and "
                  "receiving {}; the trainer waits {} of the time for that{}{}",
                  format_duration(made / sent.count), mean_words(sent), mean_words(received),
                  format_percent(facts.share(Cause::transport)), pieces_words(pieces),
                  packed_words(packed)),
      {{number("num-workers", 0)}},
      fmt::format("{}, without {} and {}{}", loader_words(facts.record, {"num_workers={}"}),
                  argument_name(facts.record, "prefetch_factor"),
                  argument_name(facts.record, "persistent_workers"),
                  has_other_way ? "; or " + way_to_send_less(facts, pieces, packed) : "")};
  candidate.waited = std::max(waits, facts.share(Cause::transport));
  return candidate;
}

}  // namespace

// Another thread can take the batches into page-locked memory while the GPU computes.
std::optional<Candidate> trainer_takes_batches(const FindingInput& facts) {
  const StageStats& received = facts.stages[Stage::transport_recv];
  const bool is_pageable = facts.config.loader.memory == MemoryMode::pageable;
  if (facts.share(Cause::transport) < kMinReportedShare || received.count == 0) return std::nullopt;
  Candidate candidate;
  if (is_pageable) candidate.options.push_back({{"memory", "pin-thread"}});
  if (facts.waits_for_each_step()) candidate.options.push_back({{"in-flight", "2"}});
  if (candidate.options.empty()) return std::nullopt;
  candidate.evidence = fmt::format(
      "the trainer takes batches from the workers itself, {}, and the GPU waits {} of "
      "the time for that",
      mean_words(received), format_percent(facts.share(Cause::transport)));
  const std::string no_wait = "no .item() or print of a tensor in every step";
  candidate.pytorch = is_pageable
                          ? loader_words(facts.record, {"pin_memory=True"}) +
                                ", whose thread takes batches while the GPU computes; " + no_wait
                          : no_wait;
  candidate.advice = {{"in-flight", no_wait, true}};
  return candidate;
}

std::optional<Candidate> slow_transport(const FindingInput& facts) {
  if (facts.share(Cause::transport) < kMinReportedShare || hands_over_places(facts))
    return std::nullopt;
  if (std::optional<Candidate> without = without_hand_over(facts)) return without;
  const Pieces pieces = count_pieces(facts);
  const Packed packed = packed_by(facts);
  return Candidate{fmt::format("finished batches are on their way between workers and trainer {} "
                               "of the time: sending {}, receiving {}{}{}",
                               format_percent(facts.share(Cause::transport)),
                               mean_words(facts.stages[Stage::transport]),
                               mean_words(facts.stages[Stage::transport_recv]),
                               pieces_words(pieces), packed_words(packed)),
                   {{{"transport.speed", "1000"}, {"transport.recv.speed", "1000"}}},
                   way_to_send_less(facts, pieces, packed)};
}

}  // namespace loaderscope
