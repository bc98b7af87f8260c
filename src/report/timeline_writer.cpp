// A run as a timeline, in two formats. For every step, it has the compute and the waits of its rank
// by cause. For exemplars, it also has the workers, the link and the way of each batch.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <streambuf>
#include <utility>
#include <vector>

#include "report/timeline_events.h"
#include "report/writers.h"
#include "source/compression.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxSteps = 200'000;  // limit over all ranks: about 40 MB
// Threads of a rank, as its tids; workers follow, and what sends for them.
constexpr std::int32_t kTraining = 1, kReceiving = 2, kPinning = 3, kCopying = 4, kLaunching = 5,
                       kFirstWorker = 100, kFirstSender = 10'000;

class RankTracks {
 public:
  RankTracks(TrackEvents& trace, std::int32_t number, std::int64_t most_steps)
      : trace_(trace),
        number_(number),
        most_steps_(most_steps),
        process_(trace.process(pid(), fmt::format("rank {}", number))),
        training_(trace.thread(pid(), kTraining, "training")) {}

  void write(const RankRecord& rank) {
    write_steps(rank);
    for (const Exemplar& exemplar : rank.exemplars) write_exemplar(exemplar);
    write_ready();
  }

 private:
  std::int32_t pid() const { return number_ + 1; }

  std::uint64_t batch_flow(std::int64_t batch) const {
    return (static_cast<std::uint64_t>(number_) + 1) << 40 | static_cast<std::uint64_t>(batch + 1);
  }

  TrackEvents::Track thread(std::int32_t tid, const std::string& name) {
    const auto known = threads_.find(tid);
    if (known != threads_.end()) return known->second;
    return threads_.emplace(tid, trace_.thread(pid(), tid, name)).first->second;
  }

  void write_steps(const RankRecord& rank) {
    std::map<std::int64_t, std::int64_t> batches;  // batches of the exemplars, by step
    for (const Exemplar& exemplar : rank.exemplars)
      batches[exemplar.row.step] = exemplar.events.batch;
    std::int64_t steps = 0;
    Nanos last = 0;
    rank.rows.for_each([&](const StepRow& row) {
      if (steps++ >= most_steps_) return;
      last = row.compute_end;
      const auto batch = batches.find(row.step);
      write_step(row, batch == batches.end() ? 0 : batch_flow(batch->second));
    });
    if (steps > most_steps_)
      trace_.instant(training_, last,
                     fmt::format("{} steps from here on are left out", steps - most_steps_));
  }

  // Writes the waits of a step one after the other. Their lengths are known, but not their order.
  void write_step(const StepRow& row, std::uint64_t flow) {
    const std::string_view category = row.warmup ? "warm-up" : "account";
    Nanos at = row.idle_begin;
    for (const auto& word : Words<Cause>::table()) {
      const Nanos stall = row.stall[word.value];
      if (stall == 0) continue;
      trace_.slice(training_, {at, at + stall, word.name, category, {{"step", row.step}}});
      at += stall;
    }
    trace_.slice(training_, {row.compute_begin,
                             row.compute_end,
                             "compute",
                             category,
                             {{"step", row.step}, {"epoch", row.epoch}, {"samples", row.samples}},
                             flow});
    ready_.emplace_back(row.deliverable, 1);
    ready_.emplace_back(row.take, -1);
  }

  void write_exemplar(const Exemplar& exemplar) {
    const StepEvents& events = exemplar.events;
    const std::uint64_t flow = batch_flow(events.batch);
    bool first = true;
    for (const auto& [worker, span] : exemplar.spans) {
      trace_.slice(thread(kFirstWorker + worker, fmt::format("worker {}", worker)),
                   {span.begin,
                    span.end,
                    name_of(span.stage),
                    "stage",
                    {{"batch", span.batch}, {"sample", span.sample}, {"bytes", span.bytes}},
                    std::exchange(first, false) ? flow : 0});
    }
    const auto write = [&](const Interval& interval, std::int32_t tid, const char* track,
                           const char* name) {
      if (interval.ran())
        trace_.slice(thread(tid, track), {interval.begin,
                                          interval.end,
                                          name,
                                          "stage",
                                          {{"batch", events.batch}, {"step", events.step}},
                                          flow});
    };
    write(events.send, kFirstSender + events.worker, "sending", "send");
    write(events.receive, kReceiving, "receiving", "receive");
    write(events.pin, kPinning, "pinning", "pin");
    write(events.copy, kCopying, "copying to the device", "h2d");
    write(events.launch, kLaunching, "launching", "launch");
  }

  // Batches that could be taken.
  void write_ready() {
    const TrackEvents::Track track = trace_.counter(process_, "batches ready");
    std::sort(ready_.begin(), ready_.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first, -a.second) < std::pair(b.first, -b.second);  // made, then taken
    });
    std::int64_t count = 0;
    for (const auto& [at, change] : ready_) {
      count += change;
      trace_.count(track, at, count);
    }
  }

  TrackEvents& trace_;
  std::int32_t number_;
  std::int64_t most_steps_;
  TrackEvents::Track process_, training_;
  std::map<std::int32_t, TrackEvents::Track> threads_;
  std::vector<std::pair<Nanos, std::int64_t>> ready_;
};

void write_events(TrackEvents& trace, const RunRecord& record) {
  const auto ranks = std::max<std::int64_t>(1, std::ssize(record.ranks));
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank)
    RankTracks(trace, static_cast<std::int32_t>(rank), kMaxSteps / ranks).write(record.ranks[rank]);
}

void write_bytes(std::ostream& out, const std::vector<std::byte>& bytes) {
  out.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

// Packs what is written to it.
class Packing : public std::streambuf {
 public:
  explicit Packing(std::ostream& out) : out_(out) {}

  void finish() {
    packer_->finish(packed_);
    write_bytes(out_, packed_);
  }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    packer_->pack(std::as_bytes(std::span(text, static_cast<std::size_t>(size))), packed_);
    write_bytes(out_, packed_);
    packed_.clear();
    return size;
  }
  int_type overflow(int_type letter) override {
    const char one = traits_type::to_char_type(letter);
    return xsputn(&one, 1) == 1 ? letter : traits_type::eof();
  }

 private:
  std::ostream& out_;
  std::unique_ptr<source::Packer> packer_ = find_row("gzip", compression_table()).make_packer();
  std::vector<std::byte> packed_;
};

}  // namespace

void write_perfetto(std::ostream& out, const AnyResult& result) {
  write_events(*make_perfetto_events(out), *result.record);
}

void write_chrome_trace(std::ostream& out, const AnyResult& result) {
  Packing packing(out);
  std::ostream packed(&packing);
  write_events(*make_chrome_events(packed), *result.record);
  packing.finish();
}

}  // namespace loaderscope
