#include "device/cuda/jpeg_batch_decoder.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "device/cuda/jpeg_refusal.h"
#include "device/cuda/warm_up_jpeg.h"

namespace loaderscope::cuda {
namespace {

using nvjpeg::Code;

constexpr std::size_t kWantedChunk = 64;
constexpr std::size_t kMaxChunk = 96;  // the largest result of choose_chunk()
constexpr std::size_t kArenaBytes = std::size_t{256} << 20;

bool is_whole(const Region& region, const JpegFacts& facts) {
  return region.x == 0 && region.y == 0 && region.width == static_cast<int>(facts.width) &&
         region.height == static_cast<int>(facts.height);
}

bool lies_within(const Region& region, const JpegFacts& facts) {
  return region.x + region.width <= static_cast<int>(facts.width) &&
         region.y + region.height <= static_cast<int>(facts.height);
}

// Returns whether an end-of-image marker is in the last bytes. Engines may decode a truncated image
// without an error, and libjpeg reports it.
bool has_end(std::span<const std::byte> stored) {
  constexpr std::size_t kSlack = 64;
  const auto tail = stored.last(std::min(stored.size(), kSlack));
  constexpr std::array kMarker = {std::byte{0xff}, std::byte{0xd9}};
  return std::search(tail.begin(), tail.end(), kMarker.begin(), kMarker.end()) != tail.end();
}

// The reason why an image goes to the host whose decode alone gave this result.
std::string_view word_of_failure(Code code) {
  switch (code) {
    case Code::bad_jpeg:
    case Code::incomplete_bitstream:
      return refusal::kDamaged;
    case Code::jpeg_not_supported:
    case Code::implementation_not_supported:
      return refusal::kOther;
    case Code::allocator_failure:
      return refusal::kMemory;
    default:
      return refusal::kFailed;
  }
}

// Results that no image can cause.
bool is_our_bug(Code code) { return code == Code::not_initialised || code == Code::arch_mismatch; }

void send_to_host(JpegOutcome& outcome, std::string_view reason) {
  outcome.way = JpegOutcome::Way::cpu;
  outcome.reason = reason;
}

}  // namespace

std::size_t suggested_arena_bytes(std::size_t batch, int width, int height) {
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  return kArenaBytes + 2 * std::min(batch, kMaxChunk) * 3 * pixels;
}

std::size_t choose_chunk(std::size_t batch, unsigned engines, unsigned cores) {
  const std::size_t together = std::size_t{engines} * cores;
  if (together == 0) {
    const std::size_t parts = std::max<std::size_t>(batch / kWantedChunk, 1);
    return (batch + parts - 1) / parts;
  }
  const std::size_t nearest = std::max<std::size_t>((kWantedChunk + together / 2) / together, 1);
  const std::size_t possible = std::max<std::size_t>(batch / together, 1);
  return std::min(std::min(nearest, possible) * together, batch);
}

JpegBatchDecoder::JpegBatchDecoder(Runtime& runtime, std::shared_ptr<Nvjpeg> nvjpeg,
                                   std::unique_ptr<Decoder> host, const JpegDecoderOptions& options,
                                   Stream stream, const std::atomic<int>& stop)
    : stream_(stream),
      limit_{&stop},
      session_(runtime, std::move(nvjpeg), options.place, options.backend, options.arena_bytes,
               options.pinned_arena_bytes),
      host_(runtime, session_.objects(), std::move(host), options.region_bytes),
      chunk_size_(choose_chunk(options.batch, session_.engines(), session_.cores())) {
  for (auto& chunk : chunks_) chunk = std::make_unique<JpegChunk>(session_, chunk_size_);
  try {
    warm_up(options.width, options.height);
  } catch (...) {
    end_work();
    throw;
  }
}

JpegBatchDecoder::~JpegBatchDecoder() { end_work(); }

void JpegBatchDecoder::end_work() {
  if (session_.is_abandoned()) return;
  bool is_idle = false;
  try {
    const WaitLimit end{nullptr, session_.runtime().now() + kMaxEndWait};
    is_idle = chunks_[0]->wait(end) && chunks_[1]->wait(end) && host_.wait(end);
  } catch (const RunError&) {
    is_idle = false;  // the device is lost
  }
  if (!is_idle) session_.abandon();
}

// Every path that a batch can take runs once: nvJPEG then loads its kernels and allocates.
void JpegBatchDecoder::warm_up(int width, int height) {
  constexpr std::size_t kStride = 3 * kWarmUpSide;
  JpegTask task;
  task.stored = std::as_bytes(std::span(kWarmUpJpeg));
  task.region = {0, 0, kWarmUpSide, kWarmUpSide};
  task.stride = kStride;
  task.to = static_cast<std::byte*>(
      session_.objects().memory(kStride * kWarmUpSide, "memory for a first image"));
  JpegFacts facts;
  session_.check("the header of a first image",
                 session_.nvjpeg().parse(session_.handle(), task.stored, session_.header(), facts));
  if (nvjpeg::reads_device(session_.backend())) task.stored = copy_first_image(task.stored);
  for (auto& chunk : chunks_) {
    const Code allocated = chunk->allocate(width, height);
    const bool is_needless = allocated == Code::implementation_not_supported;
    if (!is_needless) session_.check("the allocation for its largest images", allocated);
    chunk->clear();
    while (!chunk->is_full()) chunk->add(0, task);
    session_.check("a first image", chunk->decode(0, chunk_size_, stream_));
  }
  takes_regions_ = nvjpeg::takes_params(session_.backend()) && has_region_decode(*chunks_[0]);
  session_.check("gpu-decode", session_.runtime().synchronise_device());
}

// Returns the same bytes in device memory.
std::span<const std::byte> JpegBatchDecoder::copy_first_image(std::span<const std::byte> stored) {
  auto* const place =
      static_cast<std::byte*>(session_.objects().memory(stored.size(), "a first image"));
  session_.check("a first image",
                 session_.runtime().copy_to_device(place, stored.data(), stored.size(), stream_));
  return {place, stored.size()};
}

// Requires a chunk of first images whose header was parsed last.
bool JpegBatchDecoder::has_region_decode(JpegChunk& chunk) {
  Nvjpeg& nvjpeg = session_.nvjpeg();
  if (!chunk.wait(limit_)) return false;
  chunk.clear();
  const nvjpeg::Params params = chunk.next_params();
  bool is_supported = false;
  const Region quarter{kWarmUpSide / 4, kWarmUpSide / 4, kWarmUpSide / 2, kWarmUpSide / 2};
  return nvjpeg.set_region(params, quarter) == Code::success &&
         nvjpeg.ask_support(session_.handle(), session_.header(), params, is_supported) ==
             Code::success &&
         is_supported && chunk.decode(0, 1, stream_) == Code::success;
}

JpegBatchDecoder::Facts JpegBatchDecoder::facts() const {
  Facts facts;
  facts.engines = session_.engines();
  facts.cores = session_.cores();
  facts.chunk = chunk_size_;
  facts.arena_bytes = session_.arena().bytes();
  facts.arena_peak = session_.arena().peak();
  facts.pinned_arena_peak = session_.pinned_arena().peak();
  facts.shortages = shortages_;
  return facts;
}

bool JpegBatchDecoder::decode(std::span<const JpegTask> tasks, Event begin, Event end,
                              std::span<JpegOutcome> outcomes) {
  if (session_.is_abandoned() || tasks.size() != outcomes.size())
    throw std::logic_error("JpegBatchDecoder::decode: not allowed");
  Batch batch{tasks, outcomes, begin};
  try {
    if (!decode_all(batch)) return false;
    record_begin(batch);
    session_.check("gpu-decode", session_.runtime().record(end, stream_));
    return true;
  } catch (const RunError&) {
    session_.abandon();
    throw;
  }
}

// The device decodes a chunk while the headers of the next are parsed, and all of them while the
// host decodes its images.
bool JpegBatchDecoder::decode_all(Batch& batch) {
  JpegChunk* chunk = nullptr;
  for (std::size_t i = 0; i < batch.tasks.size(); ++i) {
    if (chunk == nullptr) {
      chunk = chunks_[next_chunk_].get();
      next_chunk_ = (next_chunk_ + 1) % chunks_.size();
      if (!chunk->wait(limit_)) return false;
      chunk->clear();
    }
    JpegOutcome& outcome = batch.outcomes[i];
    outcome = {};
    outcome.reason = find_refusal(batch.tasks[i], chunk->next_params());
    if (!outcome.reason.empty()) continue;
    outcome.way = session_.has_engines() ? JpegOutcome::Way::engines : JpegOutcome::Way::cuda;
    chunk->add(i, batch.tasks[i]);
    if (!chunk->is_full()) continue;
    if (!submit(batch, *chunk)) return false;
    chunk = nullptr;
  }
  if (chunk != nullptr && chunk->size() > 0 && !submit(batch, *chunk)) return false;
  for (std::size_t i = 0; i < batch.tasks.size(); ++i) {
    JpegOutcome& outcome = batch.outcomes[i];
    if (outcome.way != JpegOutcome::Way::cpu) continue;
    if (limit_.stop->load(std::memory_order_relaxed) != 0) return false;
    record_begin(batch);
    if (!host_.decode(batch.tasks[i], stream_, limit_, outcome.error)) return false;
  }
  return true;
}

std::string_view JpegBatchDecoder::ask(std::span<const std::byte> stored,
                                       const ImageHeader& image) {
  JpegTask task;
  task.stored = stored;
  task.region = {0, 0, image.width, image.height};
  const bool has_no_restarts = session_.has_engines() || !has_restarts(stored);
  if (!has_no_restarts) return refusal::kOther;
  chunks_[0]->clear();
  return find_refusal_of_header(task, chunks_[0]->next_params());
}

// Returns the reason why the image goes to the host, or "". Parameters for its region are set.
std::string_view JpegBatchDecoder::find_refusal(const JpegTask& task, nvjpeg::Params params) {
  if (!nvjpeg::reads_device(session_.backend())) return find_refusal_of_header(task, params);
  // Stored bytes on the host were not readable when the others were loaded.
  if (!task.is_kept) return refusal::kOther;
  if (!task.refusal.empty()) return task.refusal;
  const JpegFacts facts{static_cast<unsigned>(task.image.width),
                        static_cast<unsigned>(task.image.height)};
  return is_whole(task.region, facts) ? "" : refusal::kRegion;
}

std::string_view JpegBatchDecoder::find_refusal_of_header(const JpegTask& task,
                                                          nvjpeg::Params params) {
  Nvjpeg& nvjpeg = session_.nvjpeg();
  JpegFacts facts;
  const Code parsed = nvjpeg.parse(session_.handle(), task.stored, session_.header(), facts);
  if (parsed != Code::success) return word_of_failure(parsed);
  if (!has_end(task.stored) || !lies_within(task.region, facts)) return refusal::kDamaged;
  const bool is_region = !is_whole(task.region, facts);
  if (is_region && !takes_regions_) return refusal::kRegion;
  const std::string_view word = cuda::find_refusal(facts, session_.backend());
  if (!session_.has_engines()) return word;
  bool is_supported = false;
  const Code set =
      is_region ? nvjpeg.set_region(params, task.region) : nvjpeg.set_whole_image(params);
  if (set == Code::success)
    nvjpeg.ask_support(session_.handle(), session_.header(), params, is_supported);
  if (is_supported) return "";
  return word.empty() ? refusal::kOther : word;
}

bool JpegBatchDecoder::submit(Batch& batch, JpegChunk& chunk) {
  // Enough for the search for one bad image.
  int failures_left = static_cast<int>(std::bit_width(chunk.size() - 1)) + 1;
  return submit_part(batch, chunk, 0, chunk.size(), failures_left);
}

// A call has one result for all of its images. After a failure, both halves are tried again.
bool JpegBatchDecoder::submit_part(Batch& batch, JpegChunk& chunk, std::size_t first,
                                   std::size_t count, int& failures_left) {
  if (!chunk.wait(limit_)) return false;
  record_begin(batch);
  const Code code = chunk.decode(first, count, stream_);
  if (code == Code::success) return true;
  if (is_our_bug(code)) session_.check("a batch", code);
  const bool is_short = code == Code::allocator_failure;
  if (is_short) ++shortages_;
  const bool is_over = !is_short && --failures_left <= 0;
  if (count == 1 || is_over) {
    const std::string_view reason = count == 1 ? word_of_failure(code) : refusal::kFailed;
    for (std::size_t i = first; i < first + count; ++i)
      send_to_host(batch.outcomes[chunk.task(i)], reason);
    return true;
  }
  const std::size_t half = count / 2;
  return submit_part(batch, chunk, first, half, failures_left) &&
         submit_part(batch, chunk, first + half, count - half, failures_left);
}

void JpegBatchDecoder::record_begin(Batch& batch) {
  if (batch.has_begun) return;
  session_.check("gpu-decode", session_.runtime().record(batch.begin, stream_));
  batch.has_begun = true;
}

}  // namespace loaderscope::cuda
