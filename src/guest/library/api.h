// The C interface of libloaderscope_guest.so. Python calls it with the GIL, so each process writes
// from one thread at a time. Functions of integers alone are called as callables of
// `lsg_python_functions`, the others through ctypes. Until `lsg_join` has succeeded, and again in
// the child of a fork, all other functions do nothing.
#pragma once

#include <cstdint>

#define LOADERSCOPE_API extern "C" __attribute__((visibility("default")))

// Facts about this library and the host, as JSON for Python: the kinds of facts and messages, the
// stages and the functions below. Both sides are built from the same headers, so Python repeats
// none of them.
LOADERSCOPE_API const char* lsg_protocol(void);

// Returns null, or the name of a missing symbol of the interpreter. `lsg_python_functions` requires
// null. It returns a new dictionary of callables by name, or null with an exception raised.
LOADERSCOPE_API const char* lsg_missing_symbol(void);
LOADERSCOPE_API void* lsg_python_functions(void);

// Connects to the host and identifies this process (JSON), without waiting. Returns 0 or an errno.
LOADERSCOPE_API int lsg_join(const char* socket_path, const char* hello);
// Sends one message (JSON) to the host.
LOADERSCOPE_API void lsg_say(const char* message);
// Requests of the host: the program must end at the next batch (0 until then), and stages must be
// timed (1 by default).
LOADERSCOPE_API int lsg_must_stop(void);
LOADERSCOPE_API int lsg_timing_wanted(void);
LOADERSCOPE_API std::int64_t lsg_thread_cpu_ns(void);
// Returns the bytes of the exported object at `address`, or 0 if unknown.
LOADERSCOPE_API std::int64_t lsg_object_size(std::int64_t address);

// The calling thread makes a batch. Its time until `lsg_end_work` is recorded as spans, of stage
// `opaque` unless it has entered another stage. The time of an inner stage is not part of the outer
// one. Stages of other threads are not recorded. `is_timed` turns on the spans of timed functions.
LOADERSCOPE_API void lsg_begin_work(std::int32_t iterator, std::int32_t generation,
                                    std::int64_t batch, int is_timed);
// Begins the next sample, or a constant of StageStack in place of a number.
LOADERSCOPE_API void lsg_sample(std::int64_t sample);
LOADERSCOPE_API void lsg_enter(int stage);
LOADERSCOPE_API void lsg_leave(std::int64_t bytes);
LOADERSCOPE_API int lsg_is_in_stage(void);
// Enters a stage that handles the batch after its samples. Returns 0 if no stage was entered,
// because the calling thread makes no batch whose stages are timed.
LOADERSCOPE_API int lsg_enter_after_samples(int stage);
// Ends the work and returns the time. `continues_elsewhere` is nonzero if the thread is not a
// worker's.
LOADERSCOPE_API std::int64_t lsg_end_work(int continues_elsewhere);
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
                                  int receiver_pins);

// Number of things that Python opened since `watch_opens` was called, or since the fork. 0: files,
// 1: modules of the program, 2: folders listed, 3: batches begun.
LOADERSCOPE_API std::int64_t lsg_opened(int what);

// Collections of garbage that `count_collection` has seen end. 0: their time in ns, 1: how many of
// them were full, 2: the time of those in ns. The child of a fork begins with its parent's totals.
LOADERSCOPE_API std::int64_t lsg_collected(int what);

// Costs from `lsg_begin_batch` to `lsg_end_work` in this process. 0: ns of the measured batches, 1:
// ns of CPU time of other threads in them. The child of a fork begins with its parent's totals.
LOADERSCOPE_API std::int64_t lsg_library_threads(int what);

// Functions that report everything about a batch in one call. In the training loop:
// `lsg_ask`: the loop asks for a batch, which ends its step. Returns the time. Returns 0 without a
// report if the host wants the program to end.
LOADERSCOPE_API std::int64_t lsg_ask(std::int32_t iterator, std::int32_t generation);
// The loop received the batch, which begins a step. Returns the time since `asked`. `count` is the
// count of GuestEventKind::take.
LOADERSCOPE_API std::int64_t lsg_take(std::int32_t iterator, std::int32_t generation,
                                      std::int64_t batch, std::int64_t count, std::int64_t asked);
// Books the guest's own code since `begin`. Adds the call overhead, which the guest cannot see.
LOADERSCOPE_API void lsg_took(std::int64_t begin);
// The calling thread trains on a batch that it has taken; 0: no longer. Copies to a device are
// detected only during training.
LOADERSCOPE_API void lsg_step(int is_open);
// The sampler is about to choose. Returns the time.
LOADERSCOPE_API std::int64_t lsg_choosing(void);
// The sampler has chosen since `begin`, the result of `lsg_choosing`. `is_own`: this thread makes
// the batch next.
LOADERSCOPE_API void lsg_chosen(std::int32_t iterator, std::int32_t generation, std::int64_t begin,
                                int is_own);
// Begins a batch in the thread that makes it, and calls `lsg_begin_work`. Reports
// GuestEventKind::begun, and the dispatch if `is_own`. With `is_own`, the batch begins when the
// sampler has chosen, or now. `is_whole`: its samples cannot be distinguished. Returns whether
// stages are timed.
LOADERSCOPE_API int lsg_begin_batch(std::int32_t iterator, std::int32_t generation,
                                    std::int32_t worker, std::int64_t batch,
                                    std::int64_t rested_since, std::int64_t begun, int is_own,
                                    int is_whole);

// Device of a trainer of loaderscope, as in loaderscope/device.h. Functions that wait may be called
// without the GIL. `lsg_device_collect` reports the results. `taken` is the index of the last batch
// that the DataLoader had delivered, from 0.
LOADERSCOPE_API void lsg_device_open(int simulated, int own_copy_stream, std::int64_t in_flight);
LOADERSCOPE_API void lsg_device_copy(std::int64_t step, std::int64_t taken, const void* host,
                                     std::int64_t bytes, std::int64_t duration, int caller_copies,
                                     int wait);
LOADERSCOPE_API void lsg_device_compute(std::int64_t step, std::int64_t duration);
LOADERSCOPE_API void lsg_device_wait(std::int64_t step);  // waits for the end of the step's compute
LOADERSCOPE_API void lsg_device_collect(void);

// Books operators of this name to a stage, for a pipeline that marks its ranges with NVTX. The time
// is removed from the `opaque` that waits for them.
LOADERSCOPE_API void lsg_operator(const char* name, int stage);
// Books the work of other threads to a batch that the calling thread waits for.
LOADERSCOPE_API void lsg_others_did(int stage, std::int64_t begin, std::int64_t end,
                                    std::int64_t cpu);
// Entry point that such a library calls for its NVTX tool.
LOADERSCOPE_API int InitializeInjectionNvtx2(void* export_tables);

// Starts to record the GPU's activity (CUPTI). Returns null, or the end of a sentence with the
// reason for the failure. Requires a process that already uses CUDA.
LOADERSCOPE_API const char* lsg_gpu_watch(void);
LOADERSCOPE_API void lsg_gpu_record(int on);  // 0: pauses the recording until the next call
// The calling thread starts work of the GPU that makes batches, in this stage, until the matching
// `lsg_gpu_end_stage`. Returns 0 if no stage was begun, because the GPU's activity is not recorded
// or cannot be assigned to calls.
LOADERSCOPE_API int lsg_gpu_begin_stage(int stage);
LOADERSCOPE_API void lsg_gpu_end_stage(void);
// Writes the activity so far, and ends the recording.
LOADERSCOPE_API void lsg_gpu_stop(void);
