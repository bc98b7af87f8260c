// Findings about a stage that takes long whatever the settings of the loader.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/findings/facts.h"
#include "analysis/totals.h"
#include "analysis/verdict.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

// Without what its threads waited for a core.
std::string mean_words(const StageStats& stats) {
  if (stats.count == 0) return "not measured";
  return show_duration((stats.wall - stats.queued) / stats.count) + " each";
}

std::optional<Candidate> slow_stage(const Facts& facts, Cause cause, Stage stage,
                                    const std::string& pytorch) {
  if (facts.share(cause) < kWorthSaying) return std::nullopt;
  const std::string named = facts.named(name_of(stage));
  return Candidate{fmt::format("the trainer waits {} of the time for {}, {}{}{}",
                               show_percent(facts.share(cause)), name_of(cause),
                               mean_words(facts.stages[stage]), named.empty() ? "" : ": ", named),
                   {{{std::string(name_of(stage)) + ".speed", "2"}}},
                   pytorch};
}

// Of the workers, without what they waited for a core.
Nanos made_in(const Facts& facts) {
  Nanos sum = 0;
  for (const Stage stage : kMakingStages)
    sum += facts.stages[stage].wall - facts.stages[stage].queued;
  return sum;
}

// Threads write into the batch that the trainer takes: nothing is sent.
bool hands_over_places(const Facts& facts) {
  return facts.config.loader.executor == Executor::threads &&
         facts.stages[Stage::transport].count == 0 &&
         facts.stages[Stage::transport_recv].count == 0;
}

// Of a program's batches, in memory that is passed on by descriptors: the trainer asks the worker
// for each of them.
struct Pieces {
  double of_batch = 0, asked_s = 0;  // without waits for a worker that goes on making batches
  bool are_many = false;             // to ask for them is what a batch takes long for
};

Pieces pieces_of(const Facts& facts) {
  constexpr double kMany = 16, kMostly = 0.5;
  const StageStats& received = facts.stages[Stage::transport_recv];
  Pieces pieces;
  pieces.of_batch = facts.metric("transport.descriptors");
  pieces.asked_s =
      facts.metric("transport.descriptors_s") - facts.metric("transport.busy_worker_s");
  if (received.count == 0) return pieces;
  const double mean_s = seconds(received.wall) / static_cast<double>(received.count);
  pieces.asked_s = std::min(pieces.asked_s, mean_s);
  pieces.are_many = pieces.of_batch >= kMany && pieces.asked_s >= kMostly * mean_s;
  return pieces;
}

// "; a batch is in 300 pieces of shared memory, and the trainer asks its worker for each, 38 ms"
std::string pieces_words(const Pieces& pieces) {
  if (!pieces.are_many) return "";
  return fmt::format(
      "; a batch is in {:.0f} pieces of shared memory, and the trainer asks its "
      "worker for each, {} all together",
      pieces.of_batch, show_duration(std::llround(pieces.asked_s * static_cast<double>(kSecond))));
}

constexpr const char* kFewerPieces =
    "few large tensors per batch in place of many small ones; else "
    "torch.multiprocessing.set_sharing_strategy(\"file_system\"), by which nothing is asked for";

// Batches that take longer to hand over than to make are better made where they are needed.
std::optional<Candidate> without_hand_over(const Facts& facts) {
  const StageStats &sent = facts.stages[Stage::transport],
                   &received = facts.stages[Stage::transport_recv];
  const Nanos made = made_in(facts);
  if (sent.count == 0 || made == 0 || facts.config.loader.executor != Executor::processes)
    return std::nullopt;
  if (made >= sent.wall + received.wall) return std::nullopt;
  const Pieces pieces = pieces_of(facts);
  return Candidate{
      fmt::format("batches take {} to make and longer to hand over, sending {} and "
                  "receiving {}; the trainer waits {} of the time for that{}",
                  show_duration(made / sent.count), mean_words(sent), mean_words(received),
                  show_percent(facts.share(Cause::transport)), pieces_words(pieces)),
      {{number("num-workers", 0)}},
      fmt::format("{}, without {} and {}{}", loader_words(facts.record, {"num_workers={}"}),
                  argument_name(facts.record, "prefetch_factor"),
                  argument_name(facts.record, "persistent_workers"),
                  pieces.are_many ? std::string("; or ") + kFewerPieces : "")};
}

}  // namespace

std::optional<Candidate> decode_bound(const Facts& facts) {
  return slow_stage(facts, Cause::decode, Stage::decode,
                    std::string("store smaller images") +
                        (facts.has_gpu() ? "; JPEGs can be decoded on the GPU: "
                                           "torchvision.io.decode_jpeg(data, device=\"cuda\")"
                                         : ""));
}

std::optional<Candidate> augment_bound(const Facts& facts) {
  return slow_stage(facts, Cause::augment, Stage::augment,
                    std::string("use torchvision.transforms.v2 on uint8 tensors") +
                        (facts.has_gpu() ? ", and augment whole batches on the GPU" : ""));
}

std::optional<Candidate> collate_bound(const Facts& facts) {
  return slow_stage(facts, Cause::collate, Stage::collate,
                    "samples as tensors of one shape and few of them: default_collate stacks each "
                    "field by itself, and makes tensors of numbers one by one");
}

std::optional<Candidate> own_code(const Facts& facts) {
  if (!facts.sees_inside()) return std::nullopt;
  return slow_stage(
      facts, Cause::opaque, Stage::opaque,
      std::string(facts.has_lines() ? "these lines first: whole arrays instead of loops in Python"
                                    : "look into the data set's own functions (py-spy record "
                                      "--subprocesses -- python train.py)") +
          ", and do once, ahead, what is the same in every epoch");
}

std::optional<Candidate> loader_not_seen(const Facts& facts) {
  if (facts.sees_inside() || facts.share(Cause::opaque) < kWorthSaying) return std::nullopt;
  return Candidate{fmt::format("the trainer waits {} of the time for a loader that is not looked "
                               "into",
                               show_percent(facts.share(Cause::opaque))),
                   {},
                   std::string(framework_of(facts.record).more_workers) +
                       "; a function of your own: make the next batch in a thread while this one "
                       "trains"};
}

std::optional<Candidate> padding_waste(const Facts& facts) {
  constexpr double kMuch = 0.25;
  const double share = facts.metric("collate.padding_share");
  if (share < kMuch) return std::nullopt;
  return Candidate{fmt::format("{} of the elements of batches whose samples differ in length are "
                               "padding",
                               show_percent(share)),
                   {},
                   "a batch_sampler that puts samples of about the same length into a batch"};
}

std::optional<Candidate> serialisation_tax(const Facts& facts) {
  if (facts.share(Cause::transport) < kWorthSaying || hands_over_places(facts)) return std::nullopt;
  if (std::optional<Candidate> without = without_hand_over(facts)) return without;
  const Pieces pieces = pieces_of(facts);
  return Candidate{
      fmt::format("finished batches are on their way between workers and trainer {} "
                  "of the time: sending {}, receiving {}{}",
                  show_percent(facts.share(Cause::transport)),
                  mean_words(facts.stages[Stage::transport]),
                  mean_words(facts.stages[Stage::transport_recv]), pieces_words(pieces)),
      {{{"transport.speed", "1000"}, {"transport.recv.speed", "1000"}}},
      pieces.are_many ? kFewerPieces
                      : "few large tensors per batch, which travel in shared memory; "
                        "lists of Python objects are pickled"};
}

std::optional<Candidate> other_loader(const Facts& facts) {
  if (facts.share(Cause::launch) < kWorthSaying || !facts.waits_for_other_loaders())
    return std::nullopt;
  return Candidate{
      fmt::format("the training takes batches of more than one loader, and waits {} of "
                  "the time for others than the one that is measured: {}",
                  show_percent(facts.share(Cause::launch)), facts.named(name_of(Stage::launch))),
      {{{"launch.speed", "1000"}}},
      "more workers for that loader: " + loader_words(facts.record, {"num_workers="})};
}

double waited_for_sampler(const Facts& facts) {
  return std::min(facts.share(chosen_in(facts.record)), facts.share(Cause::launch));
}

std::optional<Candidate> slow_sampler(const Facts& facts) {
  const double waited = waited_for_sampler(facts);
  if (waited < kWorthSaying) return std::nullopt;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "the sampler takes {} of the trainer's own thread for each batch, waited for {} of the time, "
      "and no worker can take that over: {}",
      show_duration(static_cast<Nanos>(facts.metric("sampler.s") * kSecond)), show_percent(waited),
      facts.named("sampler"));
  candidate.options = {{{"launch.speed", "10"}}};
  candidate.pytorch =
      "draw an epoch's indices at once in the sampler's __iter__ (numpy, torch.randperm, "
      "torch.multinomial), and keep what is the same in every epoch";
  return candidate;
}

std::optional<Candidate> slow_trainer(const Facts& facts) {
  if (facts.share(Cause::launch) < kWorthSaying || facts.waits_for_other_loaders() ||
      facts.waits_for_sampler())
    return std::nullopt;
  Candidate candidate;
  if (facts.waits_for_wrapper()) {
    candidate.evidence =
        fmt::format("what the loader is wrapped in takes {} of the time for itself ({}), {}",
                    show_percent(facts.share(Cause::launch)), facts.named(name_of(Stage::launch)),
                    mean_words(facts.stages[Stage::launch]));
    candidate.options.push_back({{"launch.speed", "10"}});
    candidate.pytorch =
        "fewer and larger tensors in a batch; less that is done with each batch there";
    return candidate;
  }
  candidate.evidence = fmt::format(
      "a batch is there and the trainer is slow to use it {} of the time, {}",
      show_percent(facts.share(Cause::launch)), mean_words(facts.stages[Stage::launch]));
  if (facts.config.trainer.in_flight == 1) {
    candidate.options.push_back({{"in-flight", "2"}});
    // What is in flight can only run beside a compute where it is not copied between two of them.
    if (facts.config.trainer.copy != CopyMode::stream &&
        facts.config.loader.memory != MemoryMode::pageable)
      candidate.options.push_back({{"in-flight", "2"}, {"copy", "stream"}});
  }
  candidate.options.push_back({{"launch.speed", "10"}});
  candidate.pytorch =
      "no .item(), .cpu() or print of a tensor in every step; checkpoint in another thread";
  return candidate;
}

std::optional<Candidate> gpu_is_the_limit(const Facts& facts) {
  if (!facts.analysis.has_busy || facts.analysis.verdict.bound_by != "compute") return std::nullopt;
  return Candidate{fmt::format("{}, busy {} of the time", limit_words(facts.record),
                               show_percent(facts.analysis.busy.mean)),
                   {{{"compute.speed", "1000"}}},
                   "make the step itself faster: torch.compile, mixed precision, a larger batch"};
}

}  // namespace loaderscope
