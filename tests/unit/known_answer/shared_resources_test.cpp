// Shared cores and shared storage against a second simulation, written for its simplicity: all
// workers are looked at again whenever anything ends, and time is a real number.
#include <algorithm>
#include <cmath>
#include <deque>
#include <random>

#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

// The model rounds every end up to a ns, and what workers do to each other lets such differences
// grow from step to step: a few steps only. A rule broken shows as milliseconds.
constexpr std::int64_t kSamples = 20;
constexpr double kTolerance = 1'000;  // ns

// A worker makes samples of its own, one after another, without ever waiting for the window.
struct Worker {
  enum class Phase { read_place, read_latency, read_transfer, decode, augment };
  Phase phase = Phase::augment;
  double left = 0;  // ns alone; read_place: not yet
  std::int64_t sample = 0;
};

class Simulation {
 public:
  explicit Simulation(const RunConfig& config)
      : c_(config),
        workers_(static_cast<std::size_t>(config.loader.num_workers)),
        finished_(kSamples) {
    for (std::size_t w = 0; w < workers_.size(); ++w) begin_sample(w, static_cast<std::int64_t>(w));
  }

  std::vector<double> run() {
    while (missing_ > 0) {
      double soonest = INFINITY;
      for (const Worker& worker : workers_)
        soonest = std::min(soonest, worker.left / speed(worker));
      std::vector<double> speeds;
      for (const Worker& worker : workers_) speeds.push_back(speed(worker));
      now_ += soonest;
      for (std::size_t w = 0; w < workers_.size(); ++w) {
        if (std::isfinite(workers_[w].left)) workers_[w].left -= soonest * speeds[w];
      }
      for (std::size_t w = 0; w < workers_.size(); ++w) {
        while (workers_[w].left <= 1e-6) next_phase(w);
      }
    }
    return finished_;
  }

 private:
  using Phase = Worker::Phase;

  double cost(Stage stage, std::int64_t sample) const {
    const Cost* cost = c_.declared_cost(stage);
    return cost ? static_cast<double>(cost->draw(uniform_draw(0, 0, sample, stage), 0)) : 0;
  }

  double count(std::initializer_list<Phase> phases) const {
    return static_cast<double>(
        std::count_if(workers_.begin(), workers_.end(), [&](const Worker& worker) {
          return std::find(phases.begin(), phases.end(), worker.phase) != phases.end();
        }));
  }

  double speed(const Worker& worker) const {
    if (worker.phase == Phase::read_transfer) return 1 / count({Phase::read_transfer});
    if (worker.phase != Phase::decode && worker.phase != Phase::augment) return 1;
    const double n = count({Phase::decode, Phase::augment}), cores = c_.declared.cores,
                 busy = std::min(n, cores);
    const double slowdown =
        cores > 1 && busy > 1 ? (1 - c_.declared.core_scaling) * (busy - 1) / (cores - 1) : 0;
    return std::min(1.0, cores / n) * (1 - slowdown);
  }

  void begin_sample(std::size_t w, std::int64_t sample) {
    workers_[w] = {Phase::read_place, INFINITY, sample};
    waiting_.push_back(w);
    fill_places();
  }

  void fill_places() {
    const auto places = static_cast<double>(c_.declared.storage_concurrency.value);
    while (!waiting_.empty() &&
           (places == 0 || count({Phase::read_latency, Phase::read_transfer}) < places)) {
      Worker& worker = workers_[waiting_.front()];
      waiting_.pop_front();
      worker.phase = Phase::read_latency;
      worker.left = static_cast<double>(c_.declared.storage_latency.value);
    }
  }

  void next_phase(std::size_t w) {
    Worker& worker = workers_[w];
    switch (worker.phase) {
      case Phase::read_place:
        return;
      case Phase::read_latency:
        worker.phase = Phase::read_transfer;
        worker.left = c_.declared.storage_bandwidth > 0
                          ? c_.data.stored_bytes.value.mean * 1e9 / c_.declared.storage_bandwidth
                          : 0;
        return;
      case Phase::read_transfer:
        worker.phase = Phase::decode;
        worker.left = cost(Stage::decode, worker.sample);
        fill_places();
        return;
      case Phase::decode:
        worker.phase = Phase::augment;
        worker.left = cost(Stage::augment, worker.sample);
        return;
      case Phase::augment:
        if (worker.sample < kSamples) {
          finished_[static_cast<std::size_t>(worker.sample)] = now_;
          --missing_;
        }
        begin_sample(w, worker.sample + std::ssize(workers_));
        return;
    }
  }

  const RunConfig& c_;
  std::vector<Worker> workers_;
  std::deque<std::size_t> waiting_;
  std::vector<double> finished_;
  std::int64_t missing_ = kSamples;
  double now_ = 0;
};

std::string random_settings(std::mt19937_64& random) {
  const auto pick = [&](std::initializer_list<const char*> words) {
    return std::string(words.begin()[random() % words.size()]);
  };
  return "batch=1 device=null warmup=0 steps=20 prefetch=100 cost=decode=exponential:10ms "
         "cost=augment=uniform:1ms:5ms stored-bytes=1MB workers=" +
         pick({"1", "2", "5", "9"}) + " cores=" + pick({"0.5", "1", "1.5", "2", "3", "4.25", "8"}) +
         " core-scaling=" + pick({"1", "0.7", "0.5"}) + " storage-latency=" + pick({"0", "3ms"}) +
         " storage-bandwidth=" + pick({"150MB/s", "1GB/s"}) +
         " storage-concurrency=" + pick({"0", "1", "3"});
}

TEST(KnownAnswerSharedResources, AgreesWithSimplerSimulation) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::string settings = random_settings(random);
    SCOPED_TRACE(settings);
    const RunConfig config = case_config(settings);
    const std::vector<double> finished = Simulation(config).run();
    double in_order = 0;  // a batch is taken when it and all before it are finished
    std::size_t step = 0;
    run(settings).ranks[0].rows.for_each([&](const StepRow& row) {
      in_order = std::max(in_order, finished[step++]);
      ASSERT_NEAR(static_cast<double>(row.compute_begin), in_order, kTolerance)
          << "step " << row.step;
    });
  }
}

}  // namespace
}  // namespace loaderscope::known_answer
