#include "engine/trace/told_steps.h"

namespace loaderscope::traces {
namespace {

class RankTeller {
 public:
  RankTeller(Folder& folder, std::int32_t rank, const WalkedRank& walked, std::int64_t batch_size)
      : folder_(folder), rank_(rank), walked_(walked), batch_size_(batch_size) {}

  void tell(Nanos zero) {
    if (walked_.walked.empty()) return;
    end_ = walked_.walked.front().step.at.begin - zero;
    folder_.first_ask(rank_, end_);
    for (const WalkedStep& step : walked_.walked) tell_step(step);
  }

 private:
  void tell_step(const WalkedStep& walked) {
    PerCause<Nanos> stall{};
    for (std::size_t k = 0; k < kGapKinds; ++k) {
      const GapRow& row = gap_table()[k];
      const bool is_told = walked_.has_loader || !row.may_be_loader;
      stall[is_told ? row.cause : Cause::other] += walked.parts.of.at(k);
    }
    const Nanos begin = end_;
    const Nanos made = begin + stall[Cause::opaque];
    StepEvents events;
    events.step = events.batch = next_++;
    events.samples = static_cast<std::int32_t>(batch_size_);
    events.dispatched = events.begun = events.ask = begin;
    events.finished = events.deliverable = events.take = made + stall[Cause::other];
    Nanos at = events.take;
    if (stall[Cause::h2d] > 0) events.copy = {at, at + stall[Cause::h2d], 0, 0};
    at += stall[Cause::h2d];
    if (stall[Cause::launch] > 0) events.launch = {at, at + stall[Cause::launch], 0, 0};
    at += stall[Cause::launch];
    end_ = begin + walked.step.at.length() - walked.parts.overhead;
    events.ready = at;
    events.compute = {at, end_, 0, 0};
    if (made > begin) folder_.span(rank_, 0, waiting(begin, made, events.batch));
    folder_.step(rank_, events);
  }

  static Span waiting(Nanos begin, Nanos end, std::int64_t batch) {
    Span span;
    span.begin = begin;
    span.end = end;
    span.batch = batch;
    span.stage = Stage::opaque;
    return span;
  }

  Folder& folder_;
  std::int32_t rank_;
  const WalkedRank& walked_;
  std::int64_t batch_size_;
  Nanos end_ = 0;
  std::int64_t next_ = 0;
};

}  // namespace

void tell_steps(Folder& folder, std::int32_t rank, const WalkedRank& walked,
                std::int64_t batch_size, Nanos zero) {
  RankTeller(folder, rank, walked, batch_size).tell(zero);
}

void forget_why(RankRecord& rank) {
  rank.critical_path.reset();
  std::vector<StepRow> row(1);
  for (std::int64_t at = 0; at < rank.rows.size(); ++at) {
    rank.rows.read(at, row);
    row.front().why = {};
    rank.rows.write(at, row);
  }
  for (Exemplar& exemplar : rank.exemplars) exemplar.row.why = {};
}

}  // namespace loaderscope::traces
