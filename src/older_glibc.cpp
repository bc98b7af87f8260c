// Functions of newer glibc versions that this compiler's C++ library and our code call. A program
// that is linked against glibc 2.28 (src/older_glibc.cmake) brings them itself. They are hidden: no
// other library in the process sees them.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/rseq.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>

#pragma GCC visibility push(hidden)

namespace {

// Value of a variable of the machine's glibc, or 0 if that is too old to have it.
template <typename T>
T read_variable(const char* name) {
  const void* const place = ::dlsym(RTLD_DEFAULT, name);
  return place != nullptr ? *static_cast<const T*>(place) : T{};
}

// Names in the order of the numbers, which are the same on x86-64 and ARM.
constexpr std::array kSignalNames = {
    "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1", "SEGV",
    "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN", "TTOU",
    "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "POLL", "PWR",  "SYS"};

constexpr long kNsPerSecond = 1'000'000'000;

struct SearchedAddress {
  ElfW(Addr) address;
  dl_find_object* result;
};

// Callback of dl_iterate_phdr. Returns 1 at the object that holds the address.
int search_object(dl_phdr_info* info, std::size_t, void* data) {
  const auto* const searched = static_cast<SearchedAddress*>(data);
  const ElfW(Phdr)* frames = nullptr;
  const ElfW(Phdr)* holder = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type == PT_GNU_EH_FRAME) frames = &part;
    if (part.p_type != PT_LOAD) continue;
    const ElfW(Addr) begin = info->dlpi_addr + part.p_vaddr;
    if (searched->address >= begin && searched->address - begin < part.p_memsz) holder = &part;
  }
  if (holder == nullptr || frames == nullptr) return 0;
  const auto pointer = [info](ElfW(Addr) offset) {
    return reinterpret_cast<void*>(info->dlpi_addr + offset);
  };
  *searched->result = {};
  searched->result->dlfo_map_start = pointer(holder->p_vaddr);
  searched->result->dlfo_map_end = pointer(holder->p_vaddr + holder->p_memsz);
  searched->result->dlfo_eh_frame = pointer(frames->p_vaddr);
  return 1;
}

// Moves a deadline from a clock to CLOCK_REALTIME, by which glibc 2.28 waits.
timespec realtime_deadline(clockid_t clock, const timespec& deadline) {
  timespec now{};
  timespec real{};
  ::clock_gettime(clock, &now);
  ::clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += deadline.tv_sec - now.tv_sec;
  real.tv_nsec += deadline.tv_nsec - now.tv_nsec;
  if (real.tv_nsec < 0) {
    real.tv_nsec += kNsPerSecond;
    --real.tv_sec;
  } else if (real.tv_nsec >= kNsPerSecond) {
    real.tv_nsec -= kNsPerSecond;
    ++real.tv_sec;
  }
  return real;
}

}  // namespace

// Place of a thread's restartable sequences, which glibc registers from 2.35 on.
const std::ptrdiff_t __rseq_offset = read_variable<std::ptrdiff_t>("__rseq_offset");
const unsigned __rseq_size = read_variable<unsigned>("__rseq_size");

extern "C" {

// Name of a signal without "SIG". Returns null for a number without name.
const char* sigabbrev_np(int signal) noexcept {
  const auto place = static_cast<std::size_t>(signal) - 1;
  return place < kSignalNames.size() ? kSignalNames[place] : nullptr;
}

// Stays 0: reference counts are atomic from the first thread on.
char __libc_single_threaded = 0;

// Numbers for std::random_device. Waits only while the kernel's pool is empty after a boot.
std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) {
  }
  return number;
}

// Finds the frames that an exception walks. Returns -1 if no loaded object has the address.
int _dl_find_object(void* address, dl_find_object* result) noexcept {
  SearchedAddress searched{reinterpret_cast<ElfW(Addr)>(address), result};
  return ::dl_iterate_phdr(&search_object, &searched) == 1 ? 0 : -1;
}

// Waits by the given clock if the machine's glibc can, which is 2.30 and newer. With an older one,
// a change of the wall clock moves the deadline.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* deadline) {
  using Wait = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
  static const auto newer = reinterpret_cast<Wait>(::dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"));
  if (newer != nullptr) return newer(condition, mutex, clock, deadline);
  const timespec real = clock == CLOCK_REALTIME ? *deadline : realtime_deadline(clock, *deadline);
  return ::pthread_cond_timedwait(condition, mutex, &real);
}

// Number of the calling thread.
pid_t gettid() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }
}

#pragma GCC visibility pop
