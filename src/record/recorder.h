// The recorder: folds spans and step events into a RunRecord during the run, in bounded memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

#include "loaderscope/events.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

template <class Entry>
class SharedRing;  // src/record/shared_ring.h

// Sees every fact before it is folded, in the order of folding. Timelines and tests use it to keep
// what the folder drops.
class EventObserver {
 public:
  virtual ~EventObserver() = default;
  virtual void first_ask(std::int32_t rank, Nanos at) = 0;
  virtual void span(std::int32_t rank, std::int32_t worker, const Span& span) = 0;
  virtual void deliverable(std::int32_t rank, std::int64_t batch, Nanos at) = 0;
  virtual void step(std::int32_t rank, const StepEvents& events) = 0;
};

struct FoldOptions {
  std::int32_t ranks = 1;
  std::int32_t workers = 1;  // per rank; with 0 workers the trainer is worker 0
  bool in_order = true;
  bool sync_ranks = false;  // a step of all ranks begins to compute together
  // True if other processes also run ranks. A wait that all ranks here share is then booked to
  // `launch`, and counts as `waiting_for_ranks` only after book_process_waits().
  bool ranks_elsewhere = false;
  bool only_account = false;  // no stages, draws, paths and exemplars: rows and samples
  std::uint64_t seed = 0;     // seed of the reservoir
  std::int64_t first_exemplars = 200;
  std::int64_t worst_exemplars = 20;
  // Limits for all ranks together.
  Bytes exemplar_memory = Bytes{32} << 20;
  std::int64_t reservoir_rows = 50'000;
  Bytes step_row_memory = StepRows::kDefaultMemory;
  EventObserver* observer = nullptr;  // outlives the folder
};

// The single-threaded core. For each rank, facts arrive in this order:
// - The spans of a batch come before the step that delivers it.
// - A worker's spans, and the steps, are ordered by time.
// - `deliverable` comes before the step of any batch that waited longer.
//
// The folder drops each fact as soon as the account no longer needs it.
class Folder {
 public:
  explicit Folder(const FoldOptions& options);
  ~Folder();

  void first_ask(std::int32_t rank, Nanos at);
  void span(std::int32_t rank, std::int32_t worker, const Span& span);
  void deliverable(std::int32_t rank, std::int64_t batch, Nanos at);
  void step(std::int32_t rank, const StepEvents& events);
  // With a barrier: the next step of each rank waited for the step of `last`, and is folded at once
  // if that has arrived. Without this call, the folder finds the last rank once all steps have
  // arrived.
  void all_wait_for(std::int32_t last);
  // Closes the rank's window. Later reports of this rank are dropped, while other ranks continue.
  void close(std::int32_t rank);

  // Returns the records of the ranks. The folder is empty afterwards.
  std::vector<RankRecord> finish();

  std::int64_t spans_held() const;  // used by tests of the memory limit

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Facts of one thread on their way to the folder: a ring with one writer (that thread) and one
// reader (the thread that drains the recorder). Writing takes no lock and never waits; a full ring
// counts a loss.
class ThreadLog {
 public:
  enum class Kind : std::uint8_t { span, deliverable };
  struct Entry {
    Kind kind = Kind::span;
    Span span;
    std::int64_t batch = 0;
    Nanos at = 0;
  };
  using Ring = SharedRing<Entry>;

  ThreadLog(std::int32_t rank, std::int32_t worker, std::size_t capacity,
            std::pmr::memory_resource& memory);
  // Uses a ring in memory that processes share. The ring must outlive the log.
  explicit ThreadLog(Ring& ring) : ring_(&ring) {}

  void span(const Span& span) { push({Kind::span, span, 0, 0}); }
  void deliverable(std::int64_t batch, Nanos at) { push({Kind::deliverable, {}, batch, at}); }
  std::int64_t lost() const;

 private:
  friend class Recorder;
  struct Benefit {
    std::pmr::memory_resource* memory;
    std::size_t bytes;
    void operator()(void* ring) const;
  };
  void push(const Entry& entry);

  std::int32_t rank_ = 0, worker_ = 0;
  std::unique_ptr<void, Benefit> own_;  // memory of the ring, if the log owns it
  Ring* ring_;
};

// Front end of the folder for engines with threads.
class Recorder {
 public:
  // Allocates the logs in `memory`, which a thread of another process may share. It must outlive
  // the recorder.
  explicit Recorder(const FoldOptions& options, std::size_t ring_capacity = 1 << 14,
                    std::pmr::memory_resource& memory = *std::pmr::get_default_resource());
  ~Recorder();

  // One log per thread, made before the thread begins to write. The recorder owns it.
  ThreadLog& add_thread(std::int32_t rank, std::int32_t worker);

  // Called by the trainers' threads. The spans of the step's batch must have been written before.
  // The queue that carries the batch orders them.
  void first_ask(std::int32_t rank, Nanos at);
  void step(std::int32_t rank, const StepEvents& events);

  // Ends the rank's window with the last reported step. Later facts are dropped.
  void close(std::int32_t rank);

  // Moves all written facts to the folder. One thread at a time may call it.
  void drain();

  std::int64_t lost() const;
  std::vector<RankRecord> finish();  // requires that all threads have stopped writing

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace loaderscope
