// Findings about a stage that takes long whatever the settings of the loader.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/findings/finding_input.h"
#include "analysis/totals.h"
#include "analysis/verdict.h"
#include "analysis/wording.h"
#include "loaderscope/run_config.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

// Returns advice for a declared cost, which has no images, transforms or tensors.
std::string declared_words(Stage stage) {
  switch (stage) {
    case Stage::decode:
      return "a faster decoder or smaller samples";
    case Stage::augment:
      return "fewer or cheaper transforms";
    case Stage::collate:
      return "less work in collate_fn";
    default:
      return fmt::format("less work in {}", shown_name(name_of(stage)));
  }
}

// ", 12 ms a sample"
std::string time_words(const StageStats& stats, Stage stage) {
  if (stats.count == 0) return "";
  std::string text = ", " + mean_words(stats);
  const std::size_t each = text.rfind("each");
  if (stage == Stage::decode || stage == Stage::augment) text.replace(each, 4, "a sample");
  if (stage == Stage::collate) text.replace(each, 4, "a batch");
  return text;
}

std::optional<Candidate> slow_stage(const FindingInput& facts, Cause cause, Stage stage,
                                    const std::string& pytorch) {
  if (facts.share(cause) < kMinReportedShare) return std::nullopt;
  const std::string named = facts.named(name_of(stage));
  const bool is_declared = facts.config.declared_cost(stage) != nullptr && named.empty();
  return Candidate{
      fmt::format("the trainer waits {} of the time for {}{}{}{}",
                  format_percent(facts.share(cause)), shown_name(name_of(cause)),
                  time_words(facts.stages[stage], stage), named.empty() ? "" : ": ", named),
      {{{std::string(name_of(stage)) + ".speed", "2"}}},
      is_declared ? declared_words(stage) : pytorch};
}

}  // namespace

namespace {

// Advice for the kind of data that is decoded, by the names of the functions.
std::string cheaper_decode_words(const FindingInput& facts) {
  const std::string named = facts.named(name_of(Stage::decode));
  const auto names = [&](const char* part) { return named.find(part) != std::string::npos; };
  if (names("torchaudio") || names("soundfile") || names("_audio_decoder"))
    return "store short clips of uncompressed audio at the rate that the training takes, or read "
           "only the part that is used (frame_offset, num_frames)";
  if (is_of_video(facts))
    return "store videos of fewer pixels (ffmpeg -vf scale=-2:224), or in a codec that decodes "
           "faster (H.264)";
  if (names("pyarrow") || names("datasets."))
    return "take whole columns as arrays: dataset.with_format(\"torch\"), or to_numpy() in place "
           "of to_pylist()";
  return std::string("store smaller images") +
         (facts.has_gpu() ? "; JPEGs can be decoded on the GPU: "
                            "torchvision.io.decode_jpeg(data, device=\"cuda\")"
                          : "");
}

// Returns the first detail with at least 40 % of the stage's time; null if there is none.
const Detail* chief_part(const FindingInput& facts, Stage stage) {
  constexpr double kMax = 0.4;
  for (const Detail& detail : facts.record.details)
    if (detail.about == name_of(stage) && detail.share >= kMax) return &detail;
  return nullptr;
}

// Transforms that torchvision has too, in a faster form.
bool is_of_torchvision(std::string_view name) {
  constexpr std::array<std::string_view, 12> kNames = {
      "torchvision", "PIL.Image",    "Resize",       "ToTensor",
      "Normalize",   "ColorJitter",  "CenterCrop",   "RandomCrop",
      "Pad",         "GaussianBlur", "RandomAffine", "RandomHorizontalFlip"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return name.find(known) != name.npos; });
}

}  // namespace

std::optional<Candidate> decode_bound(const FindingInput& facts) {
  if (rows_of_data_frames(facts) || frames_discarded(facts) || decoder_per_sample(facts))
    return std::nullopt;
  return slow_stage(facts, Cause::decode, Stage::decode, cheaper_decode_words(facts));
}

std::string cheaper_augment_words(const FindingInput& facts) {
  const std::string named = facts.named(name_of(Stage::augment));
  const auto names = [&](const char* part) { return named.find(part) != std::string::npos; };
  if (names("okeniz"))  // Tokenizer, tokenize
    return "tokenize once for all epochs, ahead: dataset.map(tokenize, batched=True) with Hugging "
           "Face's datasets, or token numbers in an array in a file that is mapped";
  if (names(".py:"))
    return "whole arrays there instead of loops in Python, and do once, ahead, what is the same in "
           "every epoch";
  const Detail* chief = chief_part(facts, Stage::augment);
  if (chief != nullptr && !is_of_torchvision(chief->text))
    return chief->text +
           " first: make it cheaper or rarer, or do it once, ahead, where it is the same in every "
           "epoch" +
           (facts.has_gpu() ? "; whole batches can be augmented on the GPU" : "");
  return std::string("use torchvision.transforms.v2 on uint8 tensors") +
         (facts.has_gpu() ? ", and augment whole batches on the GPU" : "");
}

std::optional<Candidate> augment_bound(const FindingInput& facts) {
  return slow_stage(facts, Cause::augment, Stage::augment, cheaper_augment_words(facts));
}

std::optional<Candidate> collate_bound(const FindingInput& facts) {
  const std::string named = facts.named(name_of(Stage::collate));
  const bool is_function = named.find(".py:") != std::string::npos;  // a class has no line
  const bool is_own = is_function && named.find("default_collate") == std::string::npos;
  return slow_stage(facts, Cause::collate, Stage::collate,
                    is_own ? "whole arrays there instead of loops in Python, and do in the data "
                             "set, or once ahead, what needs no other sample of the batch"
                           : "samples as tensors of one shape and few of them: default_collate "
                             "stacks each field by itself, and makes tensors of numbers one by "
                             "one");
}

std::optional<Candidate> own_code(const FindingInput& facts) {
  if (!facts.sees_inside()) return std::nullopt;
  const StageStats& code = facts.stages[Stage::opaque];
  const char* where = facts.has_lines()
                          ? "these lines first: "
                          : "look into the data set's own functions (py-spy record --subprocesses "
                            "-- python train.py): ";
  // A faster core does not shorten waits.
  const bool waits = 2 * code.blocked() > code.wall;
  const std::string what =
      waits ? fmt::format(
                  "they wait {} of their time and compute little; more workers wait side "
                  "by side, unless it is for one lock",
                  format_percent(static_cast<double>(code.blocked()) /
                                 static_cast<double>(code.wall)))
            : "whole arrays instead of loops in Python, and do once, ahead, what is the same in "
              "every epoch";
  return slow_stage(facts, Cause::opaque, Stage::opaque, where + what);
}

std::optional<Candidate> loader_not_seen(const FindingInput& facts) {
  if (facts.sees_inside() || facts.share(Cause::opaque) < kMinReportedShare) return std::nullopt;
  const std::string share = format_percent(facts.share(Cause::opaque));
  if (is_trace_engine(facts.record.engine))
    return Candidate{fmt::format("the trainer waits {} of the time for its DataLoader, and a trace "
                                 "does not look into that",
                                 share),
                     {},
                     "more num_workers, persistent_workers=True; which of its stages is slow says: "
                     "loaderscope run -- python train.py"};
  return Candidate{fmt::format("the trainer waits {} of the time for a loader that is not looked "
                               "into",
                               share),
                   {},
                   std::string(find_framework(facts.record).more_workers) +
                       "; a function of your own: make the next batch in a thread while this one "
                       "trains"};
}

std::optional<Candidate> padding_waste(const FindingInput& facts) {
  constexpr double kMuch = 0.25;
  const double share = facts.metric(metric::collate_padding_share);
  if (share < kMuch) return std::nullopt;
  return Candidate{fmt::format("{} of the elements of batches whose samples differ in length are "
                               "padding",
                               format_percent(share)),
                   {},
                   facts.config.has_data()
                       ? "pack texts one after the other (without pad=N), or make them shorter"
                       : "a batch_sampler that puts samples of about the same length into a batch"};
}

std::optional<Candidate> other_loader(const FindingInput& facts) {
  if (facts.share(Cause::launch) < kMinReportedShare || !facts.waits_for_other_loaders())
    return std::nullopt;
  return Candidate{
      fmt::format("the training takes batches of more than one loader, and waits {} of "
                  "the time for others than the one that is measured: {}",
                  format_percent(facts.share(Cause::launch)), facts.named(name_of(Stage::launch))),
      {{{"launch.speed", "1000"}}},
      "more workers for that loader: " + loader_words(facts.record, {"num_workers="})};
}

double waited_for_sampler(const FindingInput& facts) {
  return std::min(facts.share(sampler_time(facts.record)), facts.share(Cause::launch));
}

std::optional<Candidate> slow_sampler(const FindingInput& facts) {
  const double waited = waited_for_sampler(facts);
  if (waited < kMinReportedShare) return std::nullopt;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "the sampler takes {} of the trainer's own thread for each batch, waited for {} of the time, "
      "and no worker can take that over: {}",
      format_duration(static_cast<Nanos>(facts.metric(metric::sampler_s) * kSecond)),
      format_percent(waited), facts.named("sampler"));
  candidate.options = {{{"launch.speed", "10"}}};
  candidate.pytorch =
      "draw an epoch's indices at once in the sampler's __iter__ (numpy, torch.randperm, "
      "torch.multinomial), and keep what is the same in every epoch";
  return candidate;
}

// "8.876 ms a step", the mean over the ranks as the account is.
std::string waited_each_step(const FindingInput& facts, Cause cause) {
  return format_duration(step_mean(facts.record, facts.analysis.account.stall[cause])) + " a step";
}

// The GPU has the batch, and waits for the host between kernels.
bool launches_lag(const FindingInput& facts) {
  const Account& account = facts.analysis.account;
  return device_kind(facts.config.trainer.device.value) == DeviceKind::gpu &&
         2 * account.launching > account.stall[Cause::launch];
}

std::optional<Candidate> slow_trainer(const FindingInput& facts) {
  if (facts.share(Cause::launch) < kMinReportedShare || facts.waits_for_other_loaders() ||
      facts.waits_for_sampler() || facts.waits_for_notifications())
    return std::nullopt;
  Candidate candidate;
  if (facts.waits_for_wrapper()) {
    candidate.evidence =
        fmt::format("what the loader is wrapped in takes {} of the time for itself ({}), {}",
                    format_percent(facts.share(Cause::launch)), facts.named(name_of(Stage::launch)),
                    mean_words(facts.stages[Stage::launch]));
    candidate.options.push_back({{"launch.speed", "10"}});
    candidate.pytorch =
        "fewer and larger tensors in a batch; less that is done with each batch there";
    return candidate;
  }
  candidate.evidence = fmt::format(
      "a batch is ready and the trainer is slow to use it {} of the time, {}",
      format_percent(facts.share(Cause::launch)), waited_each_step(facts, Cause::launch));
  if (facts.config.trainer.in_flight == 1) {
    candidate.options.push_back({{"in-flight", "2"}});
    // A second step in flight overlaps a compute only if copies have their own stream.
    if (facts.config.trainer.copy != CopyMode::stream &&
        facts.config.loader.memory != MemoryMode::pageable)
      candidate.options.push_back({{"in-flight", "2"}, {"copy", "stream"}});
  }
  candidate.options.push_back({{"launch.speed", "10"}});
  const std::string no_wait = "no .item(), .cpu() or print of a tensor in every step";
  candidate.pytorch =
      launches_lag(facts)
          ? "fewer launches: torch.compile(model, mode=\"reduce-overhead\"), CUDA graphs or a "
            "larger batch; " +
                no_wait
          : no_wait + "; checkpoint in another thread";
  candidate.advice = {{"in-flight", no_wait + "; checkpoint in another thread", true}};
  return candidate;
}

std::optional<Candidate> gpu_is_the_limit(const FindingInput& facts) {
  if (!facts.analysis.has_busy || facts.analysis.verdict.bound_by != "compute") return std::nullopt;
  return Candidate{fmt::format("{}, busy {} of the time", limit_words(facts.record),
                               format_percent(facts.analysis.busy.mean)),
                   {{{"compute.speed", "1000"}}},
                   "make the step itself faster: torch.compile, mixed precision, a larger batch"};
}

}  // namespace loaderscope
