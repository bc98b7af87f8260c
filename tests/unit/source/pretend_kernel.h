// A kernel that refuses what a test wants it to refuse, and a ring that answers late, in another
// order, and with less than it was asked for.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/errors.h"
#include "source/kernel_access.h"

namespace loaderscope::source {

// Events of a PretendRing. They outlive the ring, which its reader owns.
struct RingHistory {
  std::vector<std::string> opened;  // paths, in order
  int reads = 0;
  int most_under_way = 0;
  int under_way = 0;
};

class PretendRing final : public Ring {
 public:
  struct Faults {
    std::size_t most_bytes = 1 << 30;    // a read gives no more
    bool newest_first = false;           // answers come in the opposite order
    bool interrupts = false;             // every read is first interrupted
    bool refuses_direct = false;         // reads of files with O_DIRECT
    std::string no_descriptor_for = {};  // opens of paths that end with this; "": none
  };
  PretendRing(const Faults& faults, RingHistory& history) : faults_(faults), history_(history) {}
  ~PretendRing() override { EXPECT_EQ(history_.under_way, 0) << "the reader left calls behind"; }

  void open(const char* path, int flags, std::uint64_t token) override {
    history_.opened.emplace_back(path);
    const std::string& refused = faults_.no_descriptor_for;
    if (!refused.empty() && std::string_view(path).ends_with(refused))
      return queue(token, [] { return errno = EMFILE, -1; });
    queue(token, [path, flags] { return ::open(path, flags); });
  }
  void read(int fd, std::span<std::byte> to, std::size_t offset, std::uint64_t token) override {
    if (faults_.interrupts && ++history_.reads % 2 == 1) {
      return queue(token, [] { return errno = EINTR, -1; });
    }
    if (faults_.refuses_direct && (::fcntl(fd, F_GETFL) & O_DIRECT) != 0) {
      return queue(token, [] { return errno = EINVAL, -1; });
    }
    const std::size_t length = std::min(to.size(), faults_.most_bytes);
    queue(token, [=] {
      return static_cast<int>(::pread(fd, to.data(), length, static_cast<off_t>(offset)));
    });
  }
  void submit() override {
    std::move(queued_.begin(), queued_.end(), std::back_inserter(submitted_));
    queued_.clear();
  }
  std::optional<Answer> poll() override { return std::nullopt; }  // only who waits gets answers
  Answer wait() override {
    submit();
    if (submitted_.empty()) throw RunError("nothing to wait for");
    if (faults_.newest_first) std::swap(submitted_.front(), submitted_.back());
    const Call call = std::move(submitted_.front());
    submitted_.pop_front();
    --history_.under_way;
    const int result = call.run();
    return {call.token, result < 0 ? -errno : result};
  }

 private:
  struct Call {
    std::uint64_t token;
    std::function<int()> run;
  };
  void queue(std::uint64_t token, std::function<int()> run) {
    queued_.push_back({token, std::move(run)});
    history_.most_under_way = std::max(history_.most_under_way, ++history_.under_way);
  }

  Faults faults_;
  RingHistory& history_;
  std::vector<Call> queued_;
  std::deque<Call> submitted_;
};

class PretendKernel final : public KernelAccess {
 public:
  std::optional<std::string> no_ring;
  std::optional<DirectReads> direct;  // empty: the answer of the real kernel
  std::function<void()> before_direct_reads = [] {};
  int rings = 1 << 20;                        // rings that the kernel gives
  std::optional<PretendRing::Faults> faults;  // empty: the real ring
  mutable RingHistory history;

  std::optional<std::string> ring_refusal() const override { return no_ring; }
  std::unique_ptr<Ring> make_ring(unsigned entries) const override {
    if (rings_made_++ >= rings) throw RunError("the kernel has no ring left");
    if (faults) return std::make_unique<PretendRing>(*faults, history);
    return KernelAccess::make_ring(entries);
  }
  DirectReads direct_reads(int fd) const override {
    before_direct_reads();
    return direct ? *direct : KernelAccess::direct_reads(fd);
  }

 private:
  mutable int rings_made_ = 0;
};

}  // namespace loaderscope::source
