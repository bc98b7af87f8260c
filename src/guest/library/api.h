// The C interface of libloaderscope_guest.so. Python calls it with the GIL, so that each process
// writes from one thread at a time: what takes and gives nothing but integers as callables of its
// own (`lsg_python_functions`), the rest through ctypes. Until `lsg_join` has succeeded, and again
// in the child of a fork, everything else does nothing.
#pragma once

#include <cstdint>

#define LOADERSCOPE_API extern "C" __attribute__((visibility("default")))

// What Python has to know of this library and of the host, as JSON: the kinds of facts and
// messages, the stages and the functions below. Both are built from the same headers, and Python
// writes none of it down.
LOADERSCOPE_API const char* lsg_protocol(void);

// Null, or a part of the interpreter that is not there; then the other may not be called, which
// gives a new dictionary of callables, by name, or null with an exception raised.
LOADERSCOPE_API const char* lsg_missing_symbol(void);
LOADERSCOPE_API void* lsg_python_functions(void);

// Connects to the host and says who this process is (JSON), without waiting. 0, or an errno.
LOADERSCOPE_API int lsg_join(const char* socket_path, const char* hello);
// One message (JSON) to the host.
LOADERSCOPE_API void lsg_say(const char* message);
// What the host wants: that the program ends at the next batch (0 until then), that stages are
// timed (1 unless it says otherwise).
LOADERSCOPE_API int lsg_must_stop(void);
LOADERSCOPE_API int lsg_timing_wanted(void);
LOADERSCOPE_API std::int64_t lsg_thread_cpu_ns(void);
// Of the exported object at `address`, in bytes; 0: not known.
LOADERSCOPE_API std::int64_t lsg_object_size(std::int64_t address);

// The calling thread makes a batch: what it does until `lsg_end_work` is written down as
// spans, of stage `opaque` unless it has entered another one. A stage entered within a stage takes
// its time out of the outer one's. Other threads' stages are not written down. `is_timed`: those of
// functions that are looked into are.
LOADERSCOPE_API void lsg_begin_work(std::int32_t iterator, std::int32_t generation,
                                    std::int64_t batch, int is_timed);
// The next one, or one of StageStack's words in place of a number.
LOADERSCOPE_API void lsg_sample(std::int64_t sample);
LOADERSCOPE_API void lsg_enter(int stage);
LOADERSCOPE_API void lsg_leave(std::int64_t bytes);
LOADERSCOPE_API int lsg_is_in_stage(void);
// A stage that handles the batch, behind its samples. 0: nothing is entered, as the calling thread
// makes no batch whose stages are timed.
LOADERSCOPE_API int lsg_enter_behind_samples(int stage);
// `goes_on_elsewhere`: not 0: it is not a worker's thread. When.
LOADERSCOPE_API std::int64_t lsg_end_work(int goes_on_elsewhere);
LOADERSCOPE_API void lsg_start_up(std::int64_t begin, std::int64_t end);
LOADERSCOPE_API void lsg_rest(std::int64_t begin, std::int64_t end);

// `kind` is a GuestEventKind.
LOADERSCOPE_API void lsg_fact(int kind, std::int32_t iterator, std::int32_t generation,
                              std::int32_t worker, std::int64_t batch, std::int64_t begin,
                              std::int64_t end, std::int64_t cpu, std::int64_t count,
                              std::int64_t bytes);

// The calling thread begins to receive a batch. Returns the time. `is_clocked`: its CPU time is
// read from a clock. A trainer that has just woken reads none: on some kernels, the clock makes two
// threads on two cores change places all the time, and a step takes a fifth longer.
LOADERSCOPE_API std::int64_t lsg_begin_receiving(int is_clocked);
// The thread has received the batch since `begin`. Its worker kept it waiting for `waited` ns of
// that time. Without a clock, the CPU time is the time less `waited` and the run-queue delay.
LOADERSCOPE_API void lsg_received(std::int32_t iterator, std::int32_t generation,
                                  std::int64_t batch, std::int64_t begin, std::int64_t waited,
                                  int by_pin_thread);

// How much of it Python has opened since `watch_opens` was called, or since this process is one: 0
// files, 1 modules of its own, 2 folders that it has listed; 3: batches that were begun.
LOADERSCOPE_API std::int64_t lsg_opened(int what);

// Collections of garbage that `count_collection` has seen end. 0: their time in ns, 1: how many of
// them were full, 2: the time of those in ns. The child of a fork begins with its parent's totals.
LOADERSCOPE_API std::int64_t lsg_collected(int what);

// What `lsg_begin_batch` to `lsg_end_work` of this process took. 0: ns of the batches that were
// measured, 1: ns of CPU time of other threads meanwhile. The child of a fork begins with its
// parent's totals.
LOADERSCOPE_API std::int64_t lsg_library_threads(int what);

// What is told once per batch, all at once. By a training loop:
// it asks for a batch, which ends its step, when; 0: the host wants it to end, and nothing is told.
LOADERSCOPE_API std::int64_t lsg_ask(std::int32_t iterator, std::int32_t generation);
// It was given the batch, which begins a step: how long after it `asked`. `count` is that of
// GuestEventKind::take.
LOADERSCOPE_API std::int64_t lsg_take(std::int32_t iterator, std::int32_t generation,
                                      std::int64_t batch, std::int64_t count, std::int64_t asked);
// Our own code has run since then. What it takes to come there and back, which it does not see, is
// added.
LOADERSCOPE_API void lsg_took(std::int64_t begin);
// The calling thread trains on a batch that it has taken; 0: no longer. Copies to a device are
// looked for only then.
LOADERSCOPE_API void lsg_step(int is_open);
// The sampler is about to choose. When.
LOADERSCOPE_API std::int64_t lsg_choosing(void);
// The sampler has chosen since `begin`, which `lsg_choosing` has returned. `is_own`: this thread
// makes the batch next.
LOADERSCOPE_API void lsg_chosen(std::int32_t iterator, std::int32_t generation, std::int64_t begin,
                                int is_own);
// By the thread that makes it, in front of `lsg_begin_work`, which it calls: GuestEventKind::begun,
// and with `is_own` the dispatching: then it begins once the sampler has chosen, or now.
// `is_whole`: its samples are not told apart. Whether stages are timed.
LOADERSCOPE_API int lsg_begin_batch(std::int32_t iterator, std::int32_t generation,
                                    std::int32_t worker, std::int64_t batch,
                                    std::int64_t rested_since, std::int64_t begun, int is_own,
                                    int is_whole);

// The device of a trainer of ours, as in loaderscope/device.h. What waits may be called without the
// GIL; what it did is reported by `lsg_device_collect`. `taken`: the last batch that the DataLoader
// had delivered by then, counted from 0.
LOADERSCOPE_API void lsg_device_open(int simulated, int own_copy_stream, std::int64_t in_flight);
LOADERSCOPE_API void lsg_device_copy(std::int64_t step, std::int64_t taken, const void* host,
                                     std::int64_t bytes, std::int64_t duration, int by_caller,
                                     int wait);
LOADERSCOPE_API void lsg_device_compute(std::int64_t step, std::int64_t duration);
LOADERSCOPE_API void lsg_device_wait(std::int64_t step);  // until it has computed it
LOADERSCOPE_API void lsg_device_collect(void);

// What operators of that name do, of a pipeline that tells its ranges by NVTX, is that stage: it is
// taken out of the `opaque` that waits for it.
LOADERSCOPE_API void lsg_operator(const char* name, int stage);
// Likewise what others have done, for a batch that the thread waits for.
LOADERSCOPE_API void lsg_others_did(int stage, std::int64_t begin, std::int64_t end,
                                    std::int64_t cpu);
// What such a library asks for its tool.
LOADERSCOPE_API int InitializeInjectionNvtx2(void* export_tables);

// What the GPU does from now on is written down (CUPTI). Null, or why it cannot be: a sentence's
// end. Only in a process that uses CUDA already.
LOADERSCOPE_API const char* lsg_gpu_watch(void);
LOADERSCOPE_API void lsg_gpu_record(int on);  // 0: until the next call nothing is
// What it has done is written down now, and nothing is from then on.
LOADERSCOPE_API void lsg_gpu_stop(void);
