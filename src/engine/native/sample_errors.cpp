#include "engine/native/sample_errors.h"

#include <unistd.h>

#include <cstdio>

#include "base/sleep.h"

namespace loaderscope::native {

void SampleErrors::count(std::int64_t epoch, std::int64_t sample, const std::string& name,
                         const SampleError& error) {
  const std::string sentence = name + ": " + error.what();
  if (!add(epoch, sample, error.kind, sentence)) return;
  if (outbox_ == nullptr || ::getpid() == owner_) return;
  Forwarded forwarded{epoch, sample, error.kind, {}};
  std::snprintf(forwarded.sentence.data(), forwarded.sentence.size(), "%s", sentence.c_str());
  forward(forwarded);
}

// False when it was counted before.
bool SampleErrors::add(std::int64_t epoch, std::int64_t sample, SampleError::Kind kind,
                       const std::string& sentence) {
  constexpr std::size_t kNamed = 10;
  const std::lock_guard lock(mutex_);
  if (!seen_.emplace(epoch, sample).second) return false;
  ++summary_.samples;
  ++summary_.kind_counts[std::string(name_of(kind))];
  if (summary_.first.size() < kNamed && named_.insert(sample).second)
    summary_.first.push_back(sentence);
  return true;
}

SkippedSamples SampleErrors::summary() const {
  const std::lock_guard lock(mutex_);
  return summary_;
}

void SampleErrors::share(Outbox& outbox, const std::atomic<int>& stop) {
  outbox_ = &outbox;
  stop_ = &stop;
  owner_ = ::getpid();
}

void SampleErrors::forward(const Forwarded& error) {
  while (!outbox_->try_push(error) && stop_->load(std::memory_order_relaxed) == 0)
    sleep_until(monotonic_now() + kMillisecond);
}

void SampleErrors::take_forwarded() {
  if (outbox_ == nullptr) return;
  while (const auto error = outbox_->try_pop())
    add(error->epoch, error->sample, error->kind, error->sentence.data());
}

}  // namespace loaderscope::native
