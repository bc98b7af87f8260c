#include "unit/native/native_run.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <sstream>
#include <thread>
#include <utility>

#include "base/shared_memory.h"
#include "base/sleep.h"
#include "loaderscope/engine.h"
#include "loaderscope/settings.h"
#include "unit/settings_in_words.h"

namespace loaderscope::native {
namespace {

std::uint64_t hash_sample(const std::byte* bytes, Bytes count) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (Bytes i = 0; i < count; ++i)
    hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3u;
  return hash;
}

// A core that others keep shows in sleeps that end late: in those of a process of its own, as the
// engine forks before it has a thread.
class LateWakings {
 public:
  LateWakings() : latest_(new (memory_.allocate(sizeof(*latest_))) std::atomic<Nanos>(0)) {
    child_ = ::fork();
    if (child_ == 0) watch();
  }
  ~LateWakings() { stop(); }
  LateWakings(const LateWakings&) = delete;
  LateWakings& operator=(const LateWakings&) = delete;

  Nanos latest() {
    stop();
    return latest_->load();
  }

 private:
  [[noreturn]] void watch() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    use_exact_sleeps();
    for (;;) {
      const Nanos until = monotonic_now() + kMillisecond / 2;
      sleep_until(until);
      latest_->store(std::max(latest_->load(), monotonic_now() - until));
    }
  }
  void stop() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }

  SharedMemory memory_;
  std::atomic<Nanos>* latest_;  // points into memory_
  pid_t child_ = -1;
};

constexpr Nanos kDisturbed = kMillisecond;

}  // namespace

RunConfig parse_config(std::string_view settings) {
  std::vector<std::string> notes;
  return resolve(test::given_in_words(settings), MachineLimits{1024}, notes);
}

RunRecord run(std::string_view settings, const RunContext& context) {
  return run_native(parse_config(settings), context);
}

void expect_in_a_quiet_moment(const std::function<std::string()>& wrong) {
  std::string all;
  for (int attempt = 1; attempt <= 10; ++attempt) {
    LateWakings watch;
    const std::string once = wrong();
    if (once.empty()) return;
    const Nanos latest = watch.latest();
    all += fmt::format("\n{} (a sleep at the same time ended {:.1f} ms late)", once,
                       static_cast<double>(latest) / 1e6);
    if (latest < kDisturbed) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100 * attempt));
  }
  ADD_FAILURE() << "wrong, and nothing disturbed it, or ten times:" << all;
}

void expect_closes(const RunRecord& record) {
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    SCOPED_TRACE("rank " + std::to_string(rank));
    const RankRecord& rank_record = record.ranks[rank];
    Nanos at = rank_record.first_ask;
    std::int64_t step = 0;
    rank_record.rows.for_each([&](const StepRow& row) {
      EXPECT_EQ(row.step, step++);
      EXPECT_EQ(row.idle_begin, at);
      Nanos booked = 0;
      for (const Nanos ns : row.stall) {
        EXPECT_GE(ns, 0);
        booked += ns;
      }
      EXPECT_EQ(booked, row.idle()) << "step " << row.step;
      at = row.compute_end;
    });
    EXPECT_EQ(rank_record.window_end, at);
    const Account account = rank_account(rank_record);
    Nanos sum = account.compute;
    for (const Nanos ns : account.stall) sum += ns;
    EXPECT_EQ(sum, account.window);
    EXPECT_EQ(account.clamped, 0);
  }
  EXPECT_EQ(record.lost_spans, 0);
}

class NotingDevices::Noting : public Device {
 public:
  Noting(NotingDevices& owner, std::size_t rank, std::unique_ptr<Device> device)
      : owner_(owner), rank_(rank), device_(std::move(device)) {}

  bool submit_copy(const CopyJob& job) override {
    Delivered delivered;
    delivered.step = job.step;
    delivered.kept = job.reused_bytes;
    for (Bytes at = 0; job.host != nullptr && at < job.bytes; at += owner_.sample_bytes_)
      delivered.samples.push_back(hash_sample(job.host + at, owner_.sample_bytes_));
    pending_jobs_[job.step] = job;
    seen_[job.step] = delivered.samples;
    {
      const std::lock_guard lock(owner_.mutex_);
      owner_.ranks_[rank_].push_back(std::move(delivered));
    }
    return device_->submit_copy(job);
  }
  bool wait_copied(std::int64_t step) override { return device_->wait_copied(step); }
  void submit_compute(std::int64_t step, Nanos duration) override {
    device_->submit_compute(step, duration);
  }
  bool wait_computed(std::int64_t step) override {
    for (auto at = pending_jobs_.begin(); at != pending_jobs_.end() && at->first <= step;
         at = pending_jobs_.erase(at)) {
      const CopyJob& job = at->second;
      const std::vector<std::uint64_t>& samples = seen_[at->first];
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::byte* sample = job.host + static_cast<Bytes>(i) * owner_.sample_bytes_;
        if (hash_sample(sample, owner_.sample_bytes_) != samples[i]) ++owner_.overwritten_;
      }
      seen_.erase(at->first);
    }
    return device_->wait_computed(step);
  }
  bool make(const MakeJob& job) override {
    if (owner_.finish_sample_ && job.slot != nullptr) {
      Delivered delivered;
      std::vector<std::byte> made(static_cast<std::size_t>(owner_.sample_bytes_));
      for (std::int32_t i = 0; i < job.samples; ++i) {
        owner_.finish_sample_(job.slot, i, made.data());
        delivered.samples.push_back(hash_sample(made.data(), owner_.sample_bytes_));
      }
      const std::lock_guard lock(owner_.mutex_);
      delivered.step = std::ssize(owner_.made_[rank_]);
      owner_.made_[rank_].push_back(std::move(delivered));
    }
    return device_->make(job);
  }
  void prepare(const MakePlan& plan) override { device_->prepare(plan); }
  void keep(const HeldData& data) override {
    owner_.kept_[rank_].assign(data.bytes.begin(), data.bytes.end());
    device_->keep(data);
  }
  bool end() override { return device_->end(); }
  std::optional<DeviceTimes> collect() override { return device_->collect(); }

 private:
  NotingDevices& owner_;
  std::size_t rank_;
  std::unique_ptr<Device> device_;
  std::map<std::int64_t, CopyJob> pending_jobs_;
  std::map<std::int64_t, std::vector<std::uint64_t>> seen_;
};

RunContext NotingDevices::context() {
  RunContext context;
  context.native.make_devices = [this](const RunConfig& config, const std::atomic<int>& stop) {
    auto devices =
        find_row<DeviceRow>(config.trainer.device.value, device_table()).make(config, stop);
    ranks_.assign(devices.size(), {});
    made_.assign(devices.size(), {});
    kept_.assign(devices.size(), {});
    for (std::size_t rank = 0; rank < devices.size(); ++rank)
      devices[rank] = std::make_unique<Noting>(*this, rank, std::move(devices[rank]));
    return devices;
  };
  return context;
}

std::vector<Delivered> NotingDevices::delivered(std::size_t rank) const {
  const std::lock_guard lock(mutex_);
  return ranks_.at(rank);
}

std::vector<Delivered> NotingDevices::made(std::size_t rank) const {
  const std::lock_guard lock(mutex_);
  return made_.at(rank);
}

}  // namespace loaderscope::native
