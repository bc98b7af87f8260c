#include "engine/pipeline/sampler.h"

#include <algorithm>
#include <string>
#include <utility>

#include "loaderscope/cost.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr std::uint32_t kSalt = 98;  // salt of the draws from the buffer
constexpr std::int64_t kMaxBuffered = std::int64_t{1} << 32;

std::int64_t samples_of_rank(const SamplerOptions& options) {
  const std::int64_t whole = options.samples / options.ranks;
  const bool uneven = options.samples % options.ranks != 0;
  return whole + (uneven && !options.drop_uneven ? 1 : 0);
}

}  // namespace

Sampler::Sampler(const SamplerOptions& options)
    : options_(options),
      samples_per_rank_(samples_of_rank(options)),
      buffered_(options.shuffle && options.shuffle_buffer > 0) {
  if (options.samples > 0 && samples_per_rank_ == 0) {
    throw UsageError("--ranks: the data set has " + std::to_string(options.samples) +
                         " samples, less than one for each of " + std::to_string(options.ranks) +
                         " ranks",
                     "give fewer ranks, or let the last samples be repeated");
  }
  if (buffered_ && options.samples == 0) {
    throw UsageError("--shuffle-buffer: the data set is endless",
                     "give --samples, or leave it out");
  }
  if (buffered_ && options.samples > kMaxBuffered) {
    throw UsageError("--shuffle-buffer: " + std::to_string(options.samples) +
                         " samples are more than the 2^32 whose order is kept in memory",
                     "leave it out "
                     "for a full shuffle, which takes none");
  }
}

std::int64_t Sampler::at(std::int64_t rank, std::int64_t epoch, std::int64_t position) const {
  const std::int64_t place = position * options_.ranks + rank;
  if (options_.samples == 0) return place;
  const std::int64_t wrapped = place % options_.samples;  // the padding is the beginning, again
  if (!options_.shuffle) return wrapped;
  if (!buffered_) return shuffled_index(wrapped, options_.samples, options_.seed, epoch);
  return (*buffered_order(epoch))[static_cast<std::size_t>(wrapped)];
}

std::shared_ptr<const Sampler::Order> Sampler::buffered_order(std::int64_t epoch) const {
  const std::lock_guard lock(mutex_);
  for (const KeptOrder& kept : kept_) {
    if (kept.epoch == epoch && kept.order) return kept.order;
  }
  auto order = std::make_shared<const Order>(draw_buffered_order(epoch));
  std::swap(kept_[0], kept_[1]);
  kept_[0] = {epoch, order};
  return order;
}

// A drawn sample is replaced by the next of the stream. At the end, the buffer runs empty.
Sampler::Order Sampler::draw_buffered_order(std::int64_t epoch) const {
  const auto samples = static_cast<std::size_t>(options_.samples);
  const auto buffer_size = static_cast<std::size_t>(options_.shuffle_buffer);
  Order buffer(std::min(samples, buffer_size));
  std::uint64_t next = 0;
  for (std::uint32_t& sample : buffer) sample = static_cast<std::uint32_t>(next++);
  Order order;
  order.reserve(samples);
  while (!buffer.empty()) {
    const double u = uniform_draw(options_.seed, epoch, static_cast<std::int64_t>(order.size()),
                                  Stage::read, kSalt);
    std::uint32_t& drawn = buffer[static_cast<std::size_t>(u * static_cast<double>(buffer.size()))];
    order.push_back(drawn);
    if (next < samples) {
      drawn = static_cast<std::uint32_t>(next++);
    } else {
      drawn = buffer.back();
      buffer.pop_back();
    }
  }
  return order;
}

}  // namespace loaderscope
