// Extents by a ring of system calls: while the worker decodes a sample, the kernel opens and reads
// the next ones of its batch. The worker looks at the ring within `read` alone, so that waiting and
// submitting are time of the stage `read`.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loaderscope/errors.h"
#include "source/access.h"
#include "source/kernel_access.h"
#include "source/read_progress.h"
#include "source/readers.h"

namespace loaderscope::source {
namespace {

// One sample on its way.
struct Request {
  enum class State : std::uint8_t { free, opening, reading, done };

  State state = State::free;
  bool wanted = false;  // false: the sample is not needed, and the request is freed when the kernel
                        // has answered
  std::int64_t sample = -1;
  int flags = 0;
  std::string path;
  Extent extent;
  OpenExtent opened;
  ReadProgress progress;
  SampleBuffer buffer;
  std::span<std::byte> bytes;        // part of `buffer` that is read into
  std::size_t size = 0;              // bytes of the sample
  std::optional<SampleError> error;  // error of a finished request
  WorkCounts work;                   // work of the request, reported with the sample

  bool under_way() const { return state == State::opening || state == State::reading; }
};

class RingReader final : public SampleReader {
 public:
  RingReader(const Access& access, std::unique_ptr<Ring> ring, bool direct)
      : access_(access),
        extents_(access.extents()),
        opener_(access),
        requests_(static_cast<std::size_t>(access.queue_depth()) + 1),
        ring_(std::move(ring)) {
    if (direct) direct_.emplace(access);
  }

  // Waits for requests in flight, because the kernel writes into their buffers. Their failures are
  // ignored. The ring throws only if none is in flight.
  ~RingReader() override {
    for (Request& request : requests_) release(request);
    try {
      while (std::any_of(requests_.begin(), requests_.end(),
                         [](const Request& request) { return request.under_way(); })) {
        handle(ring_->wait());
      }
    } catch (const RunError&) {
    }
  }

  // Keeps requests that are in flight or done.
  void expect(std::span<const std::int64_t> samples) override {
    expected_.clear();
    for (const std::int64_t sample : samples) expected_.push_back({sample, false});
    next_expected_ = 0;
    for (Request& request : requests_) {
      if (!request.wanted) continue;
      const auto named = std::find_if(expected_.begin(), expected_.end(), [&](const Expected& one) {
        return !one.begun && one.sample == request.sample && &request != current_;
      });
      if (named == expected_.end()) {
        release(request);
      } else {
        named->begun = true;
      }
    }
  }

  int readahead_limit() const override { return static_cast<int>(requests_.size()) - 1; }

  std::span<const std::byte> read(std::int64_t sample) override {
    if (current_ != nullptr) release(*std::exchange(current_, nullptr));
    while (const auto answer = ring_->poll()) handle(*answer);
    Request& request = request_for(sample);
    start_ahead();
    ring_->submit();
    while (request.state != Request::State::done) handle(ring_->wait());
    current_ = &request;
    thread_counts += std::exchange(request.work, WorkCounts{});
    if (request.error) throw SampleError(*request.error);
    return request.bytes.subspan(request.progress.lead(), request.size);
  }

 private:
  // Submits an unexpected sample before the expected ones.
  Request& request_for(std::int64_t sample) {
    for (Request& request : requests_) {
      if (request.wanted && request.sample == sample) return request;
    }
    if (next_expected_ < expected_.size() && expected_[next_expected_].sample == sample)
      ++next_expected_;
    return start(sample);
  }

  // One request stays free for a sample that is not expected.
  void start_ahead() {
    const auto most = std::clamp<Bytes>(kMaxReadAhead / std::max<Bytes>(largest_, 1), 1,
                                        std::ssize(requests_) - 1);
    auto left =
        most - std::count_if(requests_.begin(), requests_.end(), [](const Request& request) {
          return request.state != Request::State::free;
        });
    for (; left > 0 && next_expected_ < expected_.size(); ++next_expected_) {
      if (expected_[next_expected_].begun) continue;
      start(expected_[next_expected_].sample);
      --left;
    }
  }

  Request& start(std::int64_t sample) {
    Request& request = free_request();
    request.wanted = true;
    request.sample = sample;
    request.error.reset();
    request.work = {};
    request.extent = extents_.extent(sample);
    if (opener_.is_reopened(request.extent)) {
      extents_.get_path(request.extent.object, request.path);
      open(request);
    } else {
      guarded(request, [&] { begin(request, opener_.open(sample)); });
    }
    return request;
  }

  // Returns a free request. Without one, waits for the first answer to a request that is no longer
  // wanted.
  Request& free_request() {
    for (;;) {
      for (Request& request : requests_) {
        if (request.state == Request::State::free) return request;
      }
      handle(ring_->wait());
    }
  }

  void release(Request& request) {
    request.wanted = false;
    if (request.state == Request::State::done) request.state = Request::State::free;
  }

  void open(Request& request) {
    request.state = Request::State::opening;
    request.flags = opener_.flags();
    ring_->open(request.path.c_str(), request.flags, open_token(request));
  }

  void read_on(Request& request) {
    request.state = Request::State::reading;
    const ReadProgress& progress = request.progress;
    ring_->read(request.opened.object->fd,
                request.bytes.subspan(progress.place(), progress.length()), progress.offset(),
                open_token(request));
  }

  void handle(const Ring::Answer& answer) {
    Request& request = requests_[answer.token];
    guarded(request, [&] {
      if (request.state == Request::State::opening) {
        opened(request, answer.result);
      } else {
        has_read(request, answer.result);
      }
    });
  }

  template <class Action>
  void guarded(Request& request, const Action& action) {
    try {
      action();
    } catch (const SampleError& error) {
      request.error = error;
      finish(request);
    } catch (...) {  // fault of the machine, not of the sample: it may be requested again
      request.wanted = false;
      finish(request);
      throw;
    }
  }

  void opened(Request& request, int result) {
    if (result < 0) {
      if (!request.wanted) return finish(request);
      if (!opener_.may_try_again(request.flags, -result)) fail_to_open(request.path, -result);
      return open(request);
    }
    Fd fd(result);
    access_.count_opened(request.work);
    if (!request.wanted) return finish(request);
    begin(request, opener_.checked(request.extent, checked_object(std::move(fd))));
  }

  void begin(Request& request, OpenExtent extent) {
    request.opened = std::move(extent);
    request.size = request.opened.size;
    largest_ = std::max(largest_, static_cast<Bytes>(request.size));
    begin_reading(request,
                  direct_ ? direct_->begin(request.opened) : begin_waiting(request.opened));
  }

  // The kernel reads files that may block in a thread of its own; those that may not it would give
  // back unread.
  static ReadProgress begin_waiting(const OpenExtent& extent) {
    change_flags(extent.object->fd, 0, O_NONBLOCK);
    return begin_cached(extent);
  }

  void begin_reading(Request& request, const ReadProgress& progress) {
    request.progress = progress;
    request.bytes = request.buffer.take(progress.buffer_bytes());
    read_on(request);
  }

  void has_read(Request& request, int result) {
    if (!request.wanted) return finish(request);
    if (result == -EINVAL && request.progress.alignment() > 1) {
      return begin_reading(request, direct_->give_up(request.opened));
    }
    request.progress.answered(result);
    if (result > 0) access_.count_request(result, request.work);
    if (request.progress.complete()) return finish(request);
    read_on(request);
  }

  void finish(Request& request) {
    request.opened = {};
    request.state = request.wanted ? Request::State::done : Request::State::free;
  }

  std::uint64_t open_token(const Request& request) const {
    return static_cast<std::uint64_t>(&request - requests_.data());
  }

  const Access& access_;
  const Extents& extents_;
  ExtentOpener opener_;
  std::optional<DirectSwitch> direct_;
  std::vector<Request> requests_;
  std::unique_ptr<Ring> ring_;
  struct Expected {
    std::int64_t sample;
    bool begun;  // begun before it was expected again
  };
  std::vector<Expected> expected_;
  std::size_t next_expected_ = 0;
  Bytes largest_ = 0;           // largest sample so far
  Request* current_ = nullptr;  // the caller looks at its bytes
};

// A ring of its own for every worker: the kernel may run out of them.
std::unique_ptr<SampleReader> make(const Access& access, bool direct) {
  const auto entries = static_cast<unsigned>(access.queue_depth()) + 1;
  try {
    return std::make_unique<RingReader>(access, access.kernel().make_ring(entries), direct);
  } catch (const RunError& error) {
    access.count_reader_without_ring(error.what());
    return direct ? make_direct_reader(access) : make_pread_reader(access);
  }
}

}  // namespace

std::unique_ptr<SampleReader> make_ring_reader(const Access& access) { return make(access, false); }

std::unique_ptr<SampleReader> make_direct_ring_reader(const Access& access) {
  return make(access, true);
}

}  // namespace loaderscope::source
