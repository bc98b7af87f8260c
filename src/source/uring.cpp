// The ring by io_uring. The only file that includes liburing.
#include <fcntl.h>
#include <liburing.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "loaderscope/errors.h"
#include "source/kernel_access.h"

namespace loaderscope::source {
namespace {

std::string why(int error) {
  switch (error) {
    case ENOSYS:
      return "this kernel has no io_uring; Linux 5.6 or newer has";
    case EPERM:
    case EACCES:
      return "the kernel forbids io_uring; look at sysctl kernel.io_uring_disabled and at the "
             "seccomp profile of the container";
    case ENOMEM:
      return "the kernel gives no memory for a ring; raise the limit with ulimit -l";
    case EMFILE:
    case ENFILE:
      return "there are too many open files for a ring; raise the limit with ulimit -n";
    default:
      return "the kernel refuses io_uring (" + std::generic_category().message(error) + ")";
  }
}

class Uring final : public Ring {
 public:
  explicit Uring(unsigned entries) {
    const int result = io_uring_queue_init(entries, &ring_, 0);
    if (result < 0) throw RunError(why(-result));
  }
  ~Uring() override { io_uring_queue_exit(&ring_); }
  Uring(const Uring&) = delete;
  Uring& operator=(const Uring&) = delete;

  void open(const char* path, int flags, std::uint64_t token) override {
    io_uring_sqe& call = next_call();
    io_uring_prep_openat(&call, AT_FDCWD, path, flags, 0);
    io_uring_sqe_set_data64(&call, token);
  }

  void read(int fd, std::span<std::byte> to, std::size_t offset, std::uint64_t token) override {
    io_uring_sqe& call = next_call();
    io_uring_prep_read(&call, fd, to.data(), static_cast<unsigned>(to.size()), offset);
    io_uring_sqe_set_data64(&call, token);
  }

  void submit() override {
    if (io_uring_sq_ready(&ring_) > 0) submit_and_wait_for(0);
  }

  std::optional<Answer> poll() override {
    io_uring_cqe* found = nullptr;
    if (io_uring_peek_cqe(&ring_, &found) != 0) return std::nullopt;
    return taken(found);
  }

  Answer wait() override {
    submit();
    for (;;) {
      if (const auto answer = poll()) return *answer;
      submit_and_wait_for(1);
    }
  }

 private:
  io_uring_sqe& next_call() {
    io_uring_sqe* call = io_uring_get_sqe(&ring_);
    if (call == nullptr)
      throw RunError("io_uring: more calls are queued than the ring has room for");
    return *call;
  }

  // A kernel that is short of memory takes the rest later: it says so by EAGAIN or EBUSY.
  void submit_and_wait_for(unsigned answers) {
    const int result = io_uring_submit_and_wait(&ring_, answers);
    if (result > 0) in_flight_ += static_cast<unsigned>(result);
    if (result >= 0 || result == -EINTR) return;
    if (in_flight_ == 0) {
      throw RunError("io_uring: the kernel takes no reads any more (" +
                         std::generic_category().message(-result) + ")",
                     "use --access pread");
    }
    if (answers > 0) {
      io_uring_cqe* found = nullptr;
      static_cast<void>(io_uring_wait_cqe(&ring_, &found));
    }
  }

  Answer taken(io_uring_cqe* found) {
    const Answer answer{io_uring_cqe_get_data64(found), found->res};
    io_uring_cqe_seen(&ring_, found);
    --in_flight_;
    return answer;
  }

  io_uring ring_{};
  unsigned in_flight_ = 0;
};

}  // namespace

std::unique_ptr<Ring> make_uring(unsigned entries) { return std::make_unique<Uring>(entries); }

std::optional<std::string> uring_refusal() {
  io_uring ring{};
  const int result = io_uring_queue_init(2, &ring, 0);
  if (result < 0) return why(-result);
  io_uring_probe* probe = io_uring_get_probe_ring(&ring);
  const bool complete = probe != nullptr && io_uring_opcode_supported(probe, IORING_OP_OPENAT) &&
                        io_uring_opcode_supported(probe, IORING_OP_READ);
  if (probe != nullptr) io_uring_free_probe(probe);
  io_uring_queue_exit(&ring);
  if (!complete) return "this kernel's io_uring cannot open and read files; Linux 5.6 or newer can";
  return std::nullopt;
}

}  // namespace loaderscope::source
