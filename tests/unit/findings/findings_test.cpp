// Each finding on a pipeline that has its cause, and on one that has not.
#include "loaderscope/findings.h"
#include "analysis/findings/finding_input.h"
#include "analysis/stragglers.h"
#include "loaderscope/predict.h"
#include "predict/fitted_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "unit/findings/users_code.h"

namespace loaderscope {
namespace {

using test::run;

struct FindingScenario {
  const char* id;
  const char* fires;                                  // scenario lines, on a machine with 16 cores
  const char* silent;                                 // the same without the cause
  bool on_top = true;                                 // first finding in the scenario that fires
  std::function<void(RunRecord&)> arrange = nullptr;  // facts that the model has not, when it fires
};

void PrintTo(const FindingScenario& the_case, std::ostream* out) { *out << the_case.id; }

std::vector<Finding> collect_findings(const RunRecord& record) {
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  return analysis.findings;
}

bool has(const std::vector<Finding>& findings, std::string_view id) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& f) { return f.id == id; });
}

const Finding* find(const std::vector<Finding>& findings, std::string_view id) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.id == id; });
  return found == findings.end() ? nullptr : &*found;
}

std::string list_ids(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings)
    text += std::string(f.id) + " " + changes_to_text(f.changes) + "; ";
  return text;
}

void add_metric(RunRecord& record, const std::string& name, double value) {
  record.metrics.push_back({name, "bytes", "for a test", value});
}

// Images of 0.19 MP take the GPU 110 us.
void with_probed_gpu(RunRecord& record) {
  add_metric(record, "decode.jpeg_share", 0.9);
  add_metric(record, "probed.gpu_decode_image_s", 10e-6);
  add_metric(record, "probed.gpu_decode_pixels_per_s", 1.87e9);
  add_metric(record, "probed.gpu_augment_sample_s", 10e-6);
}

// Makes the run one on a busy machine: its threads waited longer for the cores than they can have
// kept each other waiting.
void on_busy_cores(RunRecord& record) {
  record.engine = "native";
  record.config.declared.cores.value = 4;
}

void on_two_hosts(RunRecord& record) {
  record.hosts.resize(2);
  for (HostRecord& host : record.hosts) host.ranks = 1;
}

constexpr const char* kLongRun =
    "batch = 8\nsteps = 160\ncompute = 250ms\nworkers = 4\ncost = decode=1ms";

#define COMPUTE "batch = 8\nsteps = 160\ncompute = 10ms\n"

constexpr const char* kPlain = COMPUTE "workers = 4\ncost = decode=1ms";

// The trainer's time before its compute is then a wait for the other loader.
void with_two_loaders(RunRecord& record) { record.loaders.resize(2); }

std::function<void(RunRecord&)> with(const std::string& metric, double value) {
  return [=](RunRecord& record) { add_metric(record, metric, value); };
}

#define DECODES_ON_GPU                                                   \
  COMPUTE                                                                \
  "workers = 8\ncost = decode=4ms\ndecode = hw\ncost = gpu-decode=4ms\n" \
  "cost = gpu-augment=10us"

// A program calls the decoder once per image.
void decode_by_calls(RunRecord& record, const char* gpus, double images_per_call) {
  record.machine.gpus = gpus;
  add_metric(record, "gpu.sampled", 1);
  add_metric(record, "gpu_decode.calls", 100);
  add_metric(record, "gpu_decode.images", 100 * images_per_call);
}

const FindingScenario kCases[] = {
    {"no-workers", COMPUTE "workers = 0\ncost = decode=2ms",
     COMPUTE "workers = 4\ncost = decode=2ms"},
    {"too-few-workers", COMPUTE "workers = 1\ncost = decode=4ms",
     COMPUTE "workers = 8\ncost = decode=4ms"},
    {"too-few-shards", COMPUTE "workers = 4\ncost = decode=8ms",
     COMPUTE "workers = 4\ncost = decode=8ms", false, with("data.shards", 2)},
    {"too-many-workers", COMPUTE "workers = 8\ncores = 2\ncost = decode=4ms",
     COMPUTE "workers = 2\ncores = 2\ncost = decode=4ms", false},
    {"storage-latency", COMPUTE "workers = 2\nstored-bytes = 8MB\nstorage-latency = 20ms",
     COMPUTE "workers = 32\nstored-bytes = 8MB\nstorage-latency = 20ms"},
    {"storage-bandwidth", COMPUTE "workers = 4\nstorage-bandwidth = 10MB/s",
     COMPUTE "workers = 4\nstorage-bandwidth = 1GB/s"},
    {"small-files", COMPUTE "workers = 4\nstored-bytes = 50KB\nstorage-latency = 20ms",
     COMPUTE "workers = 4\nstored-bytes = 50MB\nstorage-latency = 20ms", false},
    {"cold-cache", COMPUTE "workers = 2\nstored-bytes = 8MB\ncost = read=20ms",
     COMPUTE "workers = 2\nstored-bytes = 8MB\ncost = read=20ms", false,
     [](RunRecord& record) {
       add_metric(record, "cache.checked_bytes", 1e9);
       add_metric(record, "cache.resident_bytes", 1e6);
     }},
    {"cache-too-small", COMPUTE "workers = 2\nstored-bytes = 8MB\ncost = read=20ms",
     COMPUTE "workers = 2\nstored-bytes = 8MB\ncost = read=20ms", false,
     [](RunRecord& record) {
       add_metric(record, "range_cache.size", 1e9);
       add_metric(record, "range_cache.least_size", 4e9);
       add_metric(record, "range_cache.bytes_fetched", 8e9);
       add_metric(record, "range_cache.bytes_fetched_again", 6e9);
     }},
    {"cpu-quota", COMPUTE "workers = 8\ncores = 2\ncost = decode=4ms",
     COMPUTE "workers = 8\ncores = 2\ncost = decode=4ms", false,
     [](RunRecord& record) { record.config.declared.cores.given = false; }},
    {"cpu-oversubscribed", COMPUTE "workers = 8\ncores = 2\ncost = decode=4ms",
     COMPUTE "workers = 8\ncores = 16\ncost = decode=4ms", false},
    {"cores-exhausted", COMPUTE "workers = 4\ncores = 2\ncost = decode=4ms",
     COMPUTE "workers = 4\ncores = 16\ncost = decode=4ms", false},
    {"order-stall",
     COMPUTE "workers = 4\ncores = 4\ncost = decode=4ms\ninject = decode=+300ms@every=200",
     COMPUTE "workers = 4\ncost = decode=4ms", false},
    {"prefetch-too-shallow",
     COMPUTE "workers = 4\nprefetch = 1\nno-in-order = false\ncost = decode=exponential:3500us",
     COMPUTE "workers = 16\nprefetch = 8\ncost = decode=3500us", false},
    {"device-prefetch-too-shallow",
     COMPUTE "workers = 4\ncost = read=1ms:sleep\nstored-bytes = 1MB\nlink = 4/1\ndecode = hw\n"
             "cost = gpu-decode=1ms\ncost = gpu-augment=750us\nin-flight = 1\n"
             "device-prefetch = 1",
     COMPUTE "workers = 4\ncost = read=1ms:sleep\nstored-bytes = 1MB\nlink = 4/1\ndecode = hw\n"
             "cost = gpu-decode=1ms\ncost = gpu-augment=750us\nin-flight = 1\n"
             "device-prefetch = 4",
     false},
    {"cpu-would-do",
     COMPUTE "workers = 8\ncost = decode=4ms\ndecode = hw\ncost = gpu-decode=4ms\n"
             "cost = gpu-augment=10us",
     COMPUTE "workers = 8\ncost = decode=4ms\ndecode = hw\ncost = gpu-decode=100us\n"
             "cost = gpu-augment=10us"},
    {"silent-fallback",
     COMPUTE "workers = 2\ncost = decode=20ms\ndecode = split:0.5\ncost = gpu-decode=10us\n"
             "cost = gpu-augment=10us",
     COMPUTE "workers = 2\ncost = decode=20ms\ndecode = split:0.5\ncost = gpu-decode=10us\n"
             "cost = gpu-augment=10us",
     false,
     [](RunRecord& record) {
       add_metric(record, "decode.by_engines", 500);  // the share of the configuration
       add_metric(record, "decode.by_cpu", 500);
       add_metric(record, "decode.refused_progressive", 100);
     }},
    {"engines-idle", DECODES_ON_GPU, DECODES_ON_GPU, false,
     [](RunRecord& record) { decode_by_calls(record, "2 x NVIDIA H100 80GB HBM3", 1); }},
    {"gpu-resident-fits",
     COMPUTE "workers = 2\nsamples = 4000\ncost = read=4ms\nstored-bytes = 1MB\ndecode = hw\n"
             "cost = gpu-decode=10us\ncost = gpu-augment=10us",
     COMPUTE "workers = 16\nsamples = 4000\ncost = read=1ms\nstored-bytes = 1MB\ndecode = hw\n"
             "cost = gpu-decode=10us\ncost = gpu-augment=10us",
     false, with("gpu.memory_free_bytes", 8e9)},
    {"whole-batch-tasks",
     COMPUTE "workers = 4\nprefetch = 1\nsamples = 160\npersistent-workers = true\n"
             "cost = decode=4ms:sleep",
     COMPUTE "workers = 4\ntask = sample\nsamples = 160\npersistent-workers = true\n"
             "cost = decode=4ms:sleep",
     false},
    {"workers-restarted",
     COMPUTE "samples = 160\nworkers = 4\ncost = startup=200ms\ncost = decode=1ms",
     COMPUTE "samples = 160\nworkers = 4\npersistent-workers = true\ncost = startup=200ms\n"
             "cost = decode=1ms"},
    {"pageable-copies", COMPUTE "workers = 4\nmemory = pageable\nlink = 1/0.2\ncost = decode=1ms",
     COMPUTE "workers = 4\nmemory = pinned-slots\nlink = 100/20\ncost = decode=1ms"},
    {"link-full", COMPUTE "workers = 4\nlink = 0.1/0.05\ncost = decode=1ms",
     COMPUTE "workers = 4\nlink = 1/0.5\ncost = decode=1ms"},
    {"copy-not-overlapped", COMPUTE "workers = 4\nlink = 1/0.5\ncost = decode=1ms",
     COMPUTE "workers = 4\nlink = 1/0.5\ncopy = stream\ncost = decode=1ms"},
    {"pinning-not-worth-it", COMPUTE "workers = 4\nmemory = pin-thread\ncost = pin=20ms",
     COMPUTE "workers = 4\nmemory = pin-thread\ncost = pin=1ms"},
    {"slow-transport", COMPUTE "workers = 4\nexecutor = processes\ncost = transport.recv=20ms",
     COMPUTE "workers = 4\nexecutor = processes\ncost = transport.recv=1ms"},
    {"trainer-takes-batches",
     COMPUTE "workers = 4\nexecutor = processes\nmemory = pageable\nin-flight = 1\n"
             "cost = transport.recv=2ms\ncost = decode=1ms",
     COMPUTE "workers = 4\nexecutor = processes\nmemory = pin-thread\n"
             "cost = transport.recv=2ms\ncost = decode=1ms",
     false},
    {"other-loader", COMPUTE "workers = 4\nin-flight = 1\ncost = launch=5ms:sleep",
     COMPUTE "workers = 4\nin-flight = 1\ncost = launch=5ms:sleep", true, with_two_loaders},
    {"slow-sampler", COMPUTE "workers = 4\nin-flight = 1\ncost = launch=5ms:sleep",
     COMPUTE "workers = 4\nin-flight = 1\ncost = launch=5ms:sleep", true, with("sampler.s", 0.004)},
    {"slow-trainer", COMPUTE "workers = 4\nin-flight = 1\ncost = launch=5ms:sleep",
     COMPUTE "workers = 4\ncost = launch=1ms:sleep"},
    {"decode-on-gpu", COMPUTE "workers = 16\ncost = decode=40ms",
     COMPUTE "workers = 16\ncost = decode=40ms", false, with_probed_gpu},
    {"augment-on-gpu", COMPUTE "workers = 16\ncost = augment=40ms",
     COMPUTE "workers = 16\ncost = augment=40ms", false, with_probed_gpu},
    {"decode-bound", COMPUTE "workers = 16\ncost = decode=40ms",
     COMPUTE "workers = 16\ncost = decode=4ms"},
    {"augment-bound", COMPUTE "workers = 16\ncost = decode=1ms\ncost = augment=40ms",
     COMPUTE "workers = 16\ncost = augment=4ms"},
    {"prefetch-wastes-memory", COMPUTE "workers = 4\nprefetch = 16\ncost = decode=1ms",
     COMPUTE "workers = 4\nprefetch = 2\ncost = decode=1ms", false},
    {"memory-limit-near", COMPUTE "workers = 4\ncost = decode=1ms",
     COMPUTE "workers = 4\ncost = decode=1ms", false,
     [](RunRecord& record) {
       record.machine.memory_bytes = 1'000'000;
       add_metric(record, "memory.resident_bytes", 950'000);
     }},
    {"decompression", COMPUTE "workers = 2\ncost = read=1ms\ncost = read.decompress=8ms",
     COMPUTE "workers = 2\ncost = read=9ms", false},
    {"frames-discarded", COMPUTE "workers = 16\ncost = decode=40ms",
     COMPUTE "workers = 16\ncost = decode=40ms", true,
     [](RunRecord& record) {
       add_metric(record, "video.decoded_per_used", 12);
       add_metric(record, "video.frames_decoded", 1200);
     }},
    {"decoder-per-sample", COMPUTE "workers = 16\ncost = decode=40ms",
     COMPUTE "workers = 16\ncost = decode=40ms", true,
     [](RunRecord& record) {
       record.details.push_back({"decode", "opening videos (torchcodec)", 0.7});
       add_metric(record, "video.opened_again", 0.99);
       add_metric(record, "video.files", 24);
     }},
    {"videos-in-turn", COMPUTE "workers = 4\ncost = decode=40ms",
     COMPUTE "workers = 4\ncost = decode=40ms", false,
     [](RunRecord& record) {
       add_metric(record, "video.in_turn", 3);
       add_metric(record, "process.cpu_s", 0.001);
     }},
    {"request-storm", COMPUTE "workers = 4\ncost = startup=20s\ncost = decode=1ms",
     COMPUTE "workers = 4\ncost = startup=20s\ncost = decode=1ms", false,
     [](RunRecord& record) {
       add_metric(record, "requests.worker_first", 40);
       add_metric(record, "requests.worker_first_s", 15);
       add_metric(record, "requests.throttled", 12);
     }},
    {"read-amplification", COMPUTE "workers = 2\ncost = read=9ms",
     COMPUTE "workers = 2\ncost = read=9ms", false,
     [](RunRecord& record) {
       add_metric(record, "source.bytes_of_samples", 1e6);
       add_metric(record, "source.bytes_brought", 64e6);
     }},
    {"library-lock", COMPUTE "workers = 2\ncost = read=9ms", COMPUTE "workers = 2\ncost = read=9ms",
     false,
     [](RunRecord& record) {
       add_metric(record, "source.waited_for_lock_s", 1);
       record.details.push_back({"read", "waiting for HDF5's lock", 0.5});
     }},
    {"first-epoch-startup", COMPUTE "workers = 4\ncost = startup=20s\ncost = decode=1ms",
     COMPUTE "workers = 4\ncost = startup=100ms\ncost = decode=1ms", false},
    {"large-pickled-data-set", COMPUTE "workers = 4\ncost = decode=1ms",
     COMPUTE "workers = 4\ncost = decode=1ms", false, with("startup.pickled_bytes", 2e8)},
    {"indices-mapping", COMPUTE "workers = 1\ncost = read=4ms",
     COMPUTE "workers = 1\ncost = read=4ms", false,
     [](RunRecord& record) {
       add_metric(record, "datasets.mapped", 1);
       add_metric(record, "datasets.row_bytes", 500);
       add_metric(record, "datasets.row_faults", 2);
       add_metric(record, "datasets.row_storage_bytes", 16'384);
     }},
    {"state-snapshots", COMPUTE "workers = 4\ncost = decode=1ms",
     COMPUTE "workers = 4\ncost = decode=1ms", false,
     [](RunRecord& record) {
       add_metric(record, "state.trainer_s", 0.003);
       add_metric(record, "state.trainer_share", 1);
     }},
    {"garbage-collection", COMPUTE "workers = 4\ncost = decode=1ms",
     COMPUTE "workers = 4\ncost = decode=1ms", false,
     [](RunRecord& record) {
       add_metric(record, "gc.worker_share", 0.3);
       add_metric(record, "gc.worker_full", 1);
       add_metric(record, "gc.full_s", 0.4);
     }},
    {"other-programs", COMPUTE "workers = 4\ncores = 2\ncost = decode=4ms",
     COMPUTE "workers = 4\ncores = 2\ncost = decode=4ms", false,
     [](RunRecord& record) {
       on_busy_cores(record);
       add_metric(record, "process.cpu_s", 5);
       add_metric(record, "host.other_cpu_s", 5);
     }},
    {"nested-thread-pools", COMPUTE "workers = 4\ncores = 2\ncost = decode=4ms",
     COMPUTE "workers = 4\ncores = 2\ncost = decode=4ms", false,
     [](RunRecord& record) {
       on_busy_cores(record);
       add_metric(record, "process.cpu_s", 50);
       add_metric(record, "process.threads", 40);
       add_metric(record, "process.loader_threads", 7);
     }},
    {"memory-grows", kLongRun, kLongRun, false,
     [](RunRecord& record) {
       record.machine.memory_bytes = Bytes{1} << 30;
       add_metric(record, "memory.growth_bytes_per_s", 4e6);
     }},
    {"far-numa-node", COMPUTE "workers = 4\ncost = decode=1ms",
     COMPUTE "workers = 4\ncost = decode=1ms", false,
     [](RunRecord& record) {
       add_metric(record, "numa.gpu_node", 1);
       add_metric(record, "numa.far_cpus", 16);
     }},
    {"ranks-not-bound", COMPUTE "workers = 4\nranks = 2\ncost = decode=1ms",
     COMPUTE "workers = 4\nranks = 2\ncost = decode=1ms", false, with("numa.rank_nodes", 2)},
    {"link-below-rating", COMPUTE "workers = 4\nlink = 1/0.5\ncost = decode=1ms",
     COMPUTE "workers = 4\nlink = 1/0.5\ncost = decode=1ms", false,
     [](RunRecord& record) {
       add_metric(record, "link.width", 8);
       add_metric(record, "link.max_width", 16);
       add_metric(record, "link.gts", 32);
       add_metric(record, "link.max_gts", 32);
     }},
    {"gpu-clocks-throttled", COMPUTE "workers = 4\ncost = decode=1ms",
     COMPUTE "workers = 4\ncost = decode=1ms", false,
     [](RunRecord& record) {
       add_metric(record, "gpu.throttled_share", 0.4);
       add_metric(record, "gpu.throttled_by_heat_share", 0.4);
       add_metric(record, "gpu.clock_mhz", 1200);
       add_metric(record, "gpu.most_clock_mhz", 1980);
     }},
    {"ranks-see-same-data", COMPUTE "workers = 4\nranks = 2\ncost = decode=1ms",
     COMPUTE "workers = 4\nranks = 2\ncost = decode=1ms", false,
     [](RunRecord& record) { record.ranks[1].reservoir = record.ranks[0].reservoir; }},
    {"same-order-every-epoch", kPlain, kPlain, false, with("data.repeated_orders", 2)},
    {"workers-see-same-data", kPlain, kPlain, false, with("data.alike_streams", 3)},
    {"workers-share-random-numbers", kPlain, kPlain, false, with("data.alike_seeds", 3)},
    {"epochs-repeat-random-numbers", kPlain, kPlain, false, with("data.repeated_seeds", 2)},
    {"workers-have-stale-state", kPlain, kPlain, false, with("data.stale_settings", 1)},
    {"padding-waste", kPlain, kPlain, false, with("collate.padding_share", 0.4)},
    {"interpreter-lock", kPlain, kPlain, false, with("gil.worker_wait_share", 0.3)},
    {"open-files-near-limit", kPlain, kPlain, false,
     [](RunRecord& record) {
       add_metric(record, "files.limit", 1024);
       add_metric(record, "files.open", 900);
     }},
    {"storage-concurrency",
     COMPUTE "workers = 4\nstored-bytes = 8MB\nstorage-latency = 20ms\nstorage-concurrency = 2",
     COMPUTE "workers = 4\nstored-bytes = 8MB\nstorage-latency = 20ms\nstorage-concurrency = 32"},
    {"cpu-bound-reads", COMPUTE "workers = 16\ncost = read=40ms:cpu",
     COMPUTE "workers = 16\ncost = read=40ms:sleep"},
    {"opened-per-sample", COMPUTE "workers = 16\ncost = read=40ms:cpu",
     COMPUTE "workers = 16\ncost = read=40ms:cpu", true,
     [](RunRecord& record) {
       record.details.push_back({"read", "opening h5py.File", 0.7});
       add_metric(record, "read.opened_again", 0.99);
     }},
    {"chunk-amplification", COMPUTE "workers = 16\ncost = read=40ms:cpu",
     COMPUTE "workers = 16\ncost = read=40ms:cpu", true, with("read.chunks_per_used", 8)},
    {"data-frame-rows", COMPUTE "workers = 16\ncost = decode=40ms",
     COMPUTE "workers = 16\ncost = decode=40ms", true,
     [](RunRecord& record) {
       record.details.push_back({"decode", "pandas rows (.iloc, .loc, .at)", 0.8});
     }},
    {"batched-indexing",
     "batch = 32\nsteps = 160\ncompute = 10ms\nworkers = 16\ncost = collate=400ms",
     "batch = 32\nsteps = 160\ncompute = 10ms\nworkers = 16\ncost = collate=400ms", true,
     with("data.cheap_samples", 1)},
    {"too-many-bytes-to-copy",
     COMPUTE "workers = 4\nlink = 0.3/0.1\ncopy = stream\n"
             "cost = decode=1ms",
     COMPUTE "workers = 4\nlink = 1/0.5\ncopy = stream\ncost = decode=1ms"},
    {"pin-thread-limit", COMPUTE "workers = 4\nmemory = pin-thread\ncost = pin=20ms",
     COMPUTE "workers = 4\nmemory = pin-thread\ncost = pin=1ms", false},
    {"epoch-refill",
     COMPUTE "samples = 160\nworkers = 4\npersistent-workers = true\ncost = decode=8ms",
     COMPUTE "samples = 160\nworkers = 4\ncost = decode=8ms", false},
    {"short-last-batches",
     COMPUTE "samples = 20\nworkers = 4\npersistent-workers = true\ncost = decode=1ms",
     COMPUTE "samples = 24\nworkers = 4\npersistent-workers = true\ncost = decode=1ms", false},
    {"per-batch-overhead", COMPUTE "workers = 4\ncost = decode=1ms\ncost = launch=30ms:sleep",
     COMPUTE "workers = 1\ncost = decode=4ms\ncost = launch=1ms:sleep", false},
    {"collate-bound", COMPUTE "workers = 16\ncost = decode=1ms\ncost = collate=400ms",
     COMPUTE "workers = 16\ncost = decode=1ms\ncost = collate=4ms"},
    {"own-code", COMPUTE "workers = 16\ncost = decode=40ms",
     COMPUTE "workers = 16\ncost = decode=40ms", true, test::make_users_code},
    {"loader-not-seen", COMPUTE "workers = 1\ncost = decode=4ms",
     COMPUTE "workers = 1\ncost = decode=4ms", true,
     [](RunRecord& record) {
       test::make_users_code(record);
       record.config.loader.executor.value = Executor::opaque;
     }},
    {"straggler-host",
     COMPUTE "ranks = 2\nsync-ranks = true\nworkers = 1\ncost = read=1ms\n"
             "inject = read=+1ms@rank=1",
     COMPUTE "ranks = 2\nsync-ranks = true\nworkers = 1\ncost = read=2ms", false, on_two_hosts},
    {"shared-storage", COMPUTE "ranks = 2\nworkers = 4\nstorage-bandwidth = 10MB/s",
     COMPUTE "ranks = 2\nworkers = 4\nstorage-bandwidth = 1GB/s", false, on_two_hosts},
    {"straggler-rank",
     COMPUTE "ranks = 2\nsync-ranks = true\nworkers = 1\ncost = read=1ms\n"
             "inject = read=+1ms@rank=1",
     COMPUTE "ranks = 2\nsync-ranks = true\nworkers = 1\ncost = read=2ms", false},
    {"straggler-worker",
     COMPUTE "workers = 4\ncost = decode=2ms:sleep\ninject = decode=+8ms@worker=1",
     COMPUTE "workers = 4\ncost = decode=8ms:sleep", false},
    {"gpu-is-the-limit", COMPUTE "workers = 4\ncost = decode=1ms",
     COMPUTE "workers = 1\ncost = decode=4ms"},
};

class FindingCase : public testing::TestWithParam<FindingScenario> {};

TEST_P(FindingCase, FiresAndIsSilent) {
  const FindingScenario& the_case = GetParam();
  RunRecord record = run(the_case.fires);
  if (the_case.arrange) the_case.arrange(record);
  const std::vector<Finding> findings = collect_findings(record);
  ASSERT_TRUE(has(findings, the_case.id)) << list_ids(findings);
  if (the_case.on_top) {
    EXPECT_EQ(findings.front().id, the_case.id) << list_ids(findings);
  }
  const std::vector<Finding> others = collect_findings(run(the_case.silent));
  EXPECT_FALSE(has(others, the_case.id)) << list_ids(others);
}

// In training on CPUs, findings about a GPU do not fire, and no other advice names a GPU or memory
// that is page-locked for it.
TEST_P(FindingCase, SpeaksOfNoGpuWhereThereIsNone) {
  const FindingScenario& the_case = GetParam();
  RunRecord record = run(the_case.fires);
  if (the_case.arrange) the_case.arrange(record);
  const Analysis analysis = analyse(record);
  const FindingRow& row = find_row(the_case.id, finding_table());
  ASSERT_TRUE(look_at(row, FindingInput(record, analysis)));
  record.config.trainer.device.value = "script";
  record.program = ProgramFacts();
  const std::optional<Candidate> seen = look_at(row, FindingInput(record, analysis));
  EXPECT_EQ(seen.has_value(), !row.is_of_gpu);
  if (!seen) return;
  for (const std::string& text : {seen->evidence, seen->pytorch}) {
    for (const char* word : {"GPU", "cuda", "pinned", "pin_", "page-locked"})
      EXPECT_EQ(text.find(word), text.npos) << text;
  }
}

// The model gives exactly the promised rate for the changes of a finding.
TEST_P(FindingCase, GivesBackWhatItPromises) {
  const FindingScenario& the_case = GetParam();
  if (the_case.arrange) GTEST_SKIP() << "its facts are made by hand";
  const RunRecord record = run(the_case.fires);
  const Analysis measured = analyse(record);
  const double window = seconds(measured.account.window);
  for (const Finding& finding : collect_findings(record)) {
    if (finding.regained_s <= 0 || !finding.has_figures()) continue;
    const FittedModel model(record);
    const bool is_of_rank = finding.id == kStragglerRank;
    const ScaledPrediction promise = scale_prediction(
        measured, is_of_rank ? model.predict_like_others(stragglers(measured.rank_accounts), 20'000)
                             : model.predict(finding.changes, 20'000));
    EXPECT_DOUBLE_EQ(promise.rate_after, finding.rate_after) << finding.id;
    EXPECT_NEAR(finding.regained_s, window * (1 - finding.rate_before / finding.rate_after), 1e-6);
    EXPECT_GE(finding.regained_s, 0.01 * window) << finding.id;
    EXPECT_GE(finding.busy_after, finding.busy_before - 0.0005) << finding.id;
    EXPECT_FALSE(finding.evidence.empty());
    EXPECT_EQ(finding.pytorch.find("{}"), std::string::npos) << finding.pytorch;
  }
}

INSTANTIATE_TEST_SUITE_P(Findings, FindingCase, testing::ValuesIn(kCases),
                         [](const auto& instance) {
                           std::string name = instance.param.id;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Findings, TestsEveryRow) {
  std::set<std::string_view> tested;
  for (const FindingScenario& each : kCases) tested.insert(each.id);
  for (const FindingRow& row : finding_table())
    EXPECT_TRUE(tested.contains(row.row.name)) << row.row.name;
}

TEST(Findings, AdvisesOnIdleEnginesOfGpu) {
  const auto advice = [&](const char* gpus, double images_per_call, double engines) {
    RunRecord record = run(DECODES_ON_GPU);
    decode_by_calls(record, gpus, images_per_call);
    if (engines > 0) add_metric(record, "gpu.jpeg_share", engines);
    const std::vector<Finding> findings = collect_findings(record);
    const Finding* found = find(findings, "engines-idle");
    return found != nullptr ? found->pytorch : "";
  };
  EXPECT_EQ(advice("NVIDIA GH200 480GB", 1, 0),
            "call decode_jpeg(list, device=\"cuda\") on whole batches");
  EXPECT_NE(advice("NVIDIA H200", 8, 0.04).find("as baseline JPEG"), std::string::npos);
  EXPECT_EQ(advice("NVIDIA H200", 8, 0.06), "");
  EXPECT_EQ(advice("NVIDIA A10, Tesla T4", 1, 0), "");
  EXPECT_EQ(advice("NVIDIA RTX A1000", 1, 0), "");
  EXPECT_EQ(advice("NVIDIA L40S", 1, 0), "");
}

TEST(Findings, SortsByRegainedTime) {
  const RunRecord record =
      run(COMPUTE "workers = 4\nlink = 1/0.5\ncost = decode=lognormal:8ms:0.5");
  const std::vector<Finding> findings = collect_findings(record);
  const double alike_s = 0.01 * seconds(analyse(record).account.window);
  ASSERT_GE(findings.size(), 2U);
  for (std::size_t i = 1; i < findings.size(); ++i)
    EXPECT_GE(findings[i - 1].regained_s + alike_s, findings[i].regained_s);
}

// Receiving takes 20 ms a batch.
std::string advice_for_pieces(double pieces, double asked_s, double busy_worker_s) {
  RunRecord record = run(
      COMPUTE "workers = 4\nexecutor = processes\ncost = transport.recv=20ms\ncost = decode=8ms");
  add_metric(record, "transport.descriptors", pieces);
  add_metric(record, "transport.descriptors_s", asked_s);
  add_metric(record, "transport.busy_worker_s", busy_worker_s);
  const Analysis analysis = analyse(record);
  const std::optional<Candidate> seen = slow_transport(FindingInput(record, analysis));
  return seen ? seen->evidence + "; " + seen->pytorch : "";
}

// Another way to share memory is advised only where asking for it was seen to take long.
TEST(Findings, DistinguishesManySmallTensorsFromPickledObjects) {
  const std::string many = advice_for_pieces(300, 0.018, 0);
  EXPECT_NE(many.find("300 pieces of shared memory"), many.npos) << many;
  EXPECT_NE(many.find("file_system"), many.npos) << many;
  for (const std::string& other :
       {advice_for_pieces(0, 0, 0), advice_for_pieces(3, 0.018, 0),
        advice_for_pieces(300, 0.004, 0), advice_for_pieces(300, 0.018, 0.016)}) {
    EXPECT_NE(other.find("objects are pickled"), other.npos) << other;
    EXPECT_EQ(other.find("file_system"), other.npos) << other;
  }
}

// Shares of sending.
std::string advice_for_sending(double pickled, double copied, double pickled_bytes = 4'100'000) {
  RunRecord record =
      run(COMPUTE "workers = 4\nexecutor = processes\ncost = transport=20ms\ncost = decode=8ms");
  add_metric(record, "transport.pickled_share", pickled);
  add_metric(record, "transport.pickled_bytes", pickled_bytes);
  add_metric(record, "transport.descriptors", 2);
  add_metric(record, "transport.copied_share", copied);
  add_metric(record, "transport.copied_bytes", 12'000'000);
  const Analysis analysis = analyse(record);
  const std::optional<Candidate> seen = slow_transport(FindingInput(record, analysis));
  return seen ? seen->evidence + "; " + seen->pytorch : "";
}

TEST(Findings, DistinguishesCopiedTensorsFromPickledObjects) {
  const std::string copied = advice_for_sending(0.2, 0.7);
  EXPECT_NE(
      copied.find("of sending, pickling 4.10 MB is 20.0 % and copying 12.0 MB of tensors into "
                  "shared memory 70.0 %"),
      copied.npos)
      << copied;
  EXPECT_NE(copied.find("default_collate"), copied.npos) << copied;
  const std::string pickled = advice_for_sending(0.9, 0.05);
  EXPECT_NE(pickled.find("of sending, pickling 4.10 MB is 90.0 %; "), pickled.npos) << pickled;
  EXPECT_NE(pickled.find("tensors in place of arrays"), pickled.npos) << pickled;
  const std::string neither = advice_for_sending(0.05, 0.05);
  EXPECT_FALSE(neither.empty());
  EXPECT_EQ(neither.find("of sending"), neither.npos) << neither;
}

TEST(Findings, IgnoresGarbageCollectionBelowTwoPerCent) {
  RunRecord record = run(COMPUTE "workers = 4\ncost = decode=1ms");
  add_metric(record, "gc.worker_share", 0.019);
  EXPECT_FALSE(has(collect_findings(record), "garbage-collection"));
  add_metric(record, "gc.trainer_share", 0.021);
  EXPECT_TRUE(has(collect_findings(record), "garbage-collection"));
}

// Two tensors, whose descriptions are all that is pickled.
TEST(Findings, AdvisesNoTensorsWhereAllSamplesAreTensors) {
  const std::string tensors = advice_for_sending(0.9, 0.05, 900);
  EXPECT_EQ(tensors.find("tensors in place"), tensors.npos) << tensors;
  EXPECT_EQ(tensors.find("lists of Python objects"), tensors.npos) << tensors;
  EXPECT_NE(tensors.find("fewer bytes per batch"), tensors.npos) << tensors;
}

// A program that iterates 320 samples again and again, a second each time.
TEST(Findings, NamesPersistentWorkersForShortEpochsWithoutWorkers) {
  const auto advice_with = [](const char* samples, const char* package = "") {
    RunRecord record =
        run(COMPUTE "workers = 0\ncost = decode=2ms\nsamples = " + std::string(samples));
    record.engine = "torch";
    record.program = ProgramFacts{{package}, {}, false, {}};
    const Analysis analysis = analyse(record);
    const std::optional<Candidate> seen = no_workers(FindingInput(record, analysis));
    return seen ? changes_to_text(seen->direction) + "; " + seen->pytorch : "";
  };
  const std::string brief = advice_with("320"), endless = advice_with("1000000");
  EXPECT_NE(brief.find("num-workers=2 persistent-workers=true; "), brief.npos) << brief;
  EXPECT_NE(brief.find("persistent_workers=True"), brief.npos) << brief;
  EXPECT_EQ(endless.find("persistent"), endless.npos) << endless;
  // The loader of Ultralytics keeps its workers by itself.
  EXPECT_EQ(advice_with("320", "ultralytics"), "num-workers=2; model.train(..., workers={})");
}

TEST(Findings, NamesTheTransformThatMostOfAugmentingGoesInto) {
  const auto advice_for = [](const char* name) {
    RunRecord record = run(COMPUTE "workers = 16\ncost = augment=40ms");
    record.details.push_back({"augment", name, 0.9});
    const Analysis analysis = analyse(record);
    return cheaper_augment_words(FindingInput(record, analysis));
  };
  EXPECT_EQ(advice_for("Rand3DElasticd").find("Rand3DElasticd first: "), 0U);
  EXPECT_NE(advice_for("RandomResizedCrop").find("transforms.v2"), std::string::npos);
}

TEST(Findings, AdvisesNoWorkersForBatchesThatAreMadeSoonerThanReceived) {
  RunRecord record = run("batch = 32\nsteps = 160\ncompute = 1ms\nworkers = 0\ncost = decode=40us");
  EXPECT_TRUE(has(collect_findings(record), "no-workers"));
  add_metric(record, "data.cheap_samples", 1);
  EXPECT_FALSE(has(collect_findings(record), "no-workers"));
}

// Python's own allocations fault as much as that.
TEST(Findings, IgnoresRowsReadFromPageCache) {
  RunRecord record = run(COMPUTE "workers = 1\ncost = read=4ms");
  add_metric(record, "datasets.mapped", 1);
  add_metric(record, "datasets.row_bytes", 500);
  add_metric(record, "datasets.row_faults", 2);
  add_metric(record, "datasets.row_storage_bytes", 0);
  EXPECT_FALSE(has(collect_findings(record), "indices-mapping"));
}

TEST(Findings, BlamesSamplerInsteadOfTrainer) {
  RunRecord record = run(COMPUTE "workers = 4\nin-flight = 1\ncost = launch=5ms:sleep");
  add_metric(record, "sampler.s", 0.004);
  record.details.push_back({"sampler", "Balanced.__iter__ (train.py:10)"});
  const std::vector<Finding> findings = collect_findings(record);
  EXPECT_FALSE(has(findings, "slow-trainer")) << list_ids(findings);
  EXPECT_NE(find(findings, "slow-sampler")->evidence.find("Balanced.__iter__ (train.py:10)"),
            std::string::npos);
}

TEST(Findings, AdvisesOnCollatingByItsFunction) {
  const auto advice = [](const char* function) {
    RunRecord record = run(COMPUTE "workers = 2\ncost = collate=40ms");
    record.details.push_back({"collate", function, 1.0});
    const std::vector<Finding> findings = collect_findings(record);
    const Finding* bound = find(findings, "collate-bound");
    return bound == nullptr ? list_ids(findings) : bound->pytorch;
  };
  EXPECT_NE(advice("default_collate (collate.py:340)").find("default_collate stacks"),
            std::string::npos);
  EXPECT_EQ(advice("pad (train.py:14)").find("default_collate"), std::string::npos);
  EXPECT_NE(advice("pad (train.py:14)").find("whole arrays there"), std::string::npos);
}

// A tokenizer has no pixels.
TEST(Findings, AdvisesOnAugmentingByItsFunction) {
  const auto advice = [](const char* function) {
    RunRecord record = run(COMPUTE "workers = 2\ncost = augment=8ms");
    record.details.push_back({"augment", function, 0.9});
    const std::vector<Finding> findings = collect_findings(record);
    const Finding* bound = find(findings, "augment-bound");
    return bound == nullptr ? list_ids(findings) : bound->pytorch.substr(0, 20);
  };
  EXPECT_EQ(advice("transformers.tokenization_utils_base.PreTrainedTokenizerBase.__call__"),
            "tokenize once for al");
  EXPECT_EQ(advice("encode (train.py:27)"), "whole arrays there i");
  EXPECT_EQ(advice("RandomResizedCrop"), "use torchvision.tran");
}

// The advice names other jobs only if such jobs run.
TEST(Findings, AdvisesFewerJobsOnlyIfOthersUseTheCores) {
  RunRecord record = run(COMPUTE "workers = 8\ncores = 2\ncost = decode=4ms");
  add_metric(record, "process.cpu_s", 20);
  add_metric(record, "host.other_cpu_s", 0.1);
  std::vector<Finding> findings = collect_findings(record);
  ASSERT_TRUE(has(findings, "cpu-oversubscribed")) << list_ids(findings);
  EXPECT_EQ(find(findings, "cpu-oversubscribed")->pytorch, "a machine with 8 cores");
  record.metrics.back().value = 20;
  findings = collect_findings(record);
  ASSERT_TRUE(has(findings, "cpu-oversubscribed")) << list_ids(findings);
  EXPECT_EQ(find(findings, "cpu-oversubscribed")->pytorch,
            "fewer other jobs on this machine, or a machine with more cores");
}

// The overhead takes 5 % of the time. That is too little to change the batch size, and with it the
// training.
TEST(Findings, AdvisesNoBatchSizeForLittleTime) {
  EXPECT_FALSE(has(collect_findings(run(COMPUTE "workers = 4\ncost = decode=100us\nin-flight = 1\n"
                                                "cost = launch=300us:sleep")),
                   "per-batch-overhead"));
}

TEST(Findings, DistinguishesSentStateFromBatches) {
  RunRecord record = run(COMPUTE
                         "workers = 2\nexecutor = processes\ncost = decode=100us\n"
                         "cost = transport=30ms\ncost = transport.recv=10ms");
  add_metric(record, "transport.pickled_share", 0.2);
  add_metric(record, "transport.pickled_bytes", 7.4e6);
  add_metric(record, "state.bytes", 7.3e6);
  add_metric(record, "state.worker_share", 1.0);
  const std::vector<Finding> findings = collect_findings(record);
  const Finding* tax = find(findings, "slow-transport");
  ASSERT_NE(tax, nullptr) << list_ids(findings);
  EXPECT_NE(tax->evidence.find("7.30 MB of a batch are the loader's state"), std::string::npos)
      << tax->evidence;
  EXPECT_NE(tax->pytorch.find("snapshot_every_n_steps=100"), std::string::npos) << tax->pytorch;
}

TEST(Findings, OmitsSharesOfZero) {
  const std::vector<Finding> findings =
      collect_findings(run(COMPUTE "workers = 4\ncost = decode=1ms\ncost = launch=30ms:sleep"));
  const Finding* small = find(findings, "per-batch-overhead");
  ASSERT_NE(small, nullptr) << list_ids(findings);
  EXPECT_EQ(small->evidence.find("0.0 %"), std::string::npos) << small->evidence;
}

// A short batch has a whole compute. Without it, fewer computes hide the refill.
TEST(Findings, AdvisesNothingThatLowersGpuUse) {
  const std::vector<Finding> findings =
      collect_findings(run("batch = 32\nsteps = 300\ncompute = 10ms\nsamples = 200\nworkers = 4\n"
                           "cores = 8\ncost = decode=500us"));
  EXPECT_FALSE(has(findings, "short-last-batches")) << list_ids(findings);
  ASSERT_FALSE(findings.empty());
  for (const Finding& finding : findings) {
    EXPECT_GE(finding.rate_after, finding.rate_before) << finding.id;
    EXPECT_GE(finding.busy_after, finding.busy_before - 0.0005) << finding.id;
  }
}

// 32 ms of decoding in four workers: a batch every 8 ms, where the GPU takes one every 10.
TEST(Findings, PromisesNoGainIfGpuIsTheLimit) {
  const std::vector<Finding> findings =
      collect_findings(run(COMPUTE "workers = 4\ncost = decode=4ms"));
  const Finding* limit = find(findings, "gpu-is-the-limit");
  ASSERT_NE(limit, nullptr) << list_ids(findings);
  EXPECT_TRUE(limit->is_ceiling);
  EXPECT_EQ(limit->busy_after, 0);
  EXPECT_EQ(limit->regained_s, 0);
  EXPECT_NEAR(limit->rate_before, 800, 1);
  EXPECT_NEAR(limit->rate_after, 1000, 10);
  EXPECT_EQ(limit->evidence.rfind("the GPU is the limit, busy 100.0 % of the time", 0), 0U);
}

// The first batch of a rank follows on none; that of the rank before it is no short one.
TEST(Findings, ComparesBatchesWithinOneRank) {
  const std::vector<Finding> findings =
      collect_findings(run("batch = 8\ncompute = 10ms\nsamples = 44\nranks = 2\nepochs = 1\n"
                           "workers = 2\ncost = decode=1ms"));
  EXPECT_FALSE(has(findings, "short-last-batches")) << list_ids(findings);
}

// 8 ms to make in a worker, 20 ms to receive: making them in the trainer is faster.
TEST(Findings, AdvisesNoWorkersIfSendingCostsMoreThanMaking) {
  const std::vector<Finding> findings =
      collect_findings(run(COMPUTE "workers = 4\nexecutor = processes\ncost = decode=1ms\n"
                                   "cost = transport=1ms\ncost = transport.recv=20ms"));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().id, "slow-transport");
  EXPECT_EQ(findings.front().changes, (Changes{{"num-workers", "0"}}));
  EXPECT_GT(findings.front().busy_after, 0.9);
}

// More workers are the advice then, but not for the sake of the reads.
TEST(Findings, NamesStorageLatencyOnlyIfReadsLead) {
  const auto with_read = [](const std::string& time) {
    return collect_findings(
        run(COMPUTE "workers = 2\ncost = decode=4ms:sleep\ncost = read=" + time));
  };
  EXPECT_EQ(with_read("5ms").front().id, "storage-latency");
  const std::vector<Finding> findings = with_read("3ms");
  EXPECT_FALSE(has(findings, "storage-latency")) << list_ids(findings);
  EXPECT_EQ(findings.front().id, "too-few-workers") << list_ids(findings);
}

// The opaque work of the user's data set causes waits like any other work.
TEST(Findings, NamesStorageLatencyOnlyIfReadsOutlastOpaqueWork) {
  const auto is_said = [](const std::string& time) {
    RunRecord record =
        run(COMPUTE "workers = 2\ncost = decode=4ms:sleep\ncost = read=" + time + ":sleep");
    test::make_users_code(record);
    const Analysis analysis = analyse(record);
    EXPECT_GT(analysis.account.stall[Cause::opaque], analysis.account.window / 5);
    return storage_latency(FindingInput(record, analysis)).has_value();
  };
  EXPECT_TRUE(is_said("5ms"));
  EXPECT_FALSE(is_said("3ms"));
}

// Two workers that rest for half of their time, and now and then are 150 ms late: none of it for
// want of capacity, and the batches of more workers are there in time.
TEST(Findings, TriesMoreWorkersForAnyWhy) {
  const RunRecord record =
      run("batch = 8\nsteps = 200\ncompute = 10ms\nworkers = 2\ncost = decode=1250us:sleep\n"
          "inject = decode=+150ms@every=200");
  const Account account = analyse(record).account;
  EXPECT_LT(account.why[Why::capacity], account.window / 100);
  const std::vector<Finding> findings = collect_findings(record);
  const Finding* more = find(findings, "too-few-workers");
  ASSERT_NE(more, nullptr) << list_ids(findings);
  EXPECT_EQ(changes_to_text(more->changes), "num-workers=8");
}

// Each setting alone gains 0: a compute hides a copy only if another step may be in flight.
TEST(Findings, NamesBothSettingsThatHelpOnlyTogether) {
  const std::vector<Finding> findings = collect_findings(
      run(COMPUTE "workers = 4\nin-flight = 1\ncost = h2d=8ms\ncost = decode=1ms"));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().id, "copy-not-overlapped") << list_ids(findings);
  EXPECT_EQ(changes_to_text(findings.front().changes), "copy=stream in-flight=2");
  EXPECT_DOUBLE_EQ(findings.front().busy_after, 1);
}

TEST(Findings, HidesPageableCopiesByThreeSettings) {
  const std::vector<Finding> findings =
      collect_findings(run(COMPUTE "workers = 4\nin-flight = 1\nmemory = pageable\ncost = h2d=8ms\n"
                                   "cost = decode=1ms"));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(changes_to_text(findings.front().changes), "memory=pin-thread copy=stream in-flight=2");
}

TEST(Findings, HidesPageableCopiesOfGivenTime) {
  const std::vector<Finding> findings =
      collect_findings(run(COMPUTE "workers = 4\nmemory = pageable\ncost = h2d=6ms"));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().id, "pageable-copies");
  EXPECT_EQ(changes_to_text(findings.front().changes), "memory=pin-thread copy=stream");
  EXPECT_DOUBLE_EQ(findings.front().busy_after, 1);
}

TEST(Findings, NamesStorageRateMeasuredByProbe) {
  RunRecord record = run(COMPUTE "workers = 2\nstored-bytes = 8MB\nstorage-latency = 20ms");
  add_metric(record, "probed.storage_bytes_per_s", 910e6);
  const std::vector<Finding> findings = collect_findings(record);
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& f) { return f.id == "storage-latency"; });
  ASSERT_NE(found, findings.end());
  EXPECT_NE(found->evidence.find("; probe measured 910 MB/s here"), std::string::npos);
}

TEST(Findings, ReportsPartOfCoreAsQuota) {
  const auto with_cores = [](const std::string& cores) {
    return collect_findings(run(COMPUTE "workers = 8\ncost = decode=4ms\ncores = " + cores));
  };
  EXPECT_EQ(with_cores("2.5").front().id, "cpu-quota");
  EXPECT_NE(with_cores("2.5").front().evidence.find("a CPU quota leaves 2.5 cores for 8 workers"),
            std::string::npos);
  EXPECT_FALSE(has(with_cores("2"), "cpu-quota"));
}

TEST(Findings, PromisesFullSpeedForNarrowLink) {
  RunRecord record = run(COMPUTE "workers = 4\nlink = 1/0.5\ncost = decode=1ms");
  for (const auto& [name, value] : {std::pair{"link.width", 8.0},
                                    {"link.max_width", 16.0},
                                    {"link.gts", 32.0},
                                    {"link.max_gts", 32.0}})
    add_metric(record, name, value);
  const std::vector<Finding> findings = collect_findings(record);
  const auto link = std::find_if(findings.begin(), findings.end(),
                                 [](const Finding& f) { return f.id == "link-below-rating"; });
  ASSERT_NE(link, findings.end());
  EXPECT_EQ(link->changes, (Changes{{"h2d.speed", "2"}}));
  EXPECT_GT(link->regained_s, 0);
}

// The job then runs as fast as on cores of its own.
TEST(Findings, PredictsGainWithoutOtherPrograms) {
  RunRecord record = run(COMPUTE "workers = 4\ncores = 2\ncost = decode=4ms");
  on_busy_cores(record);
  const FittedModel model(record);
  const Prediction alone = model.predict({{"other-threads", "0"}});
  EXPECT_GT(alone.samples_per_s, 1.2 * model.predict({}).samples_per_s);
  EXPECT_EQ(alone.account.stall[Cause::contention], 0);  // 4 threads on 4 cores
}

TEST(Findings, ListsFindingsForTiedCauses) {
  const RunRecord record = run(COMPUTE
                               "workers = 1\ncost = read=lognormal:2ms:1\n"
                               "cost = decode=lognormal:2ms:1");
  const Analysis analysis = analyse(record);
  ASSERT_FALSE(analysis.verdict.bound_by);
  ASSERT_FALSE(analysis.verdict.withheld_reason);
  EXPECT_FALSE(collect_findings(record).empty());
}

std::vector<Finding> findings_with(const std::vector<std::pair<std::string, double>>& metrics,
                                   std::vector<Detail> details = {}) {
  RunRecord record = run(kPlain);
  for (const auto& [name, value] : metrics) add_metric(record, name, value);
  record.details = std::move(details);
  return collect_findings(record);
}

// The ready batches of a foreign loader are not counted.
TEST(Findings, SkipsPrefetchMemoryWithoutQueueCounts) {
  RunRecord record = run(COMPUTE "workers = 4\nprefetch = 16\ncost = decode=1ms");
  ASSERT_NE(find(collect_findings(record), "prefetch-wastes-memory"), nullptr);
  for (RankRecord& rank : record.ranks) rank.queues.clear();
  const std::vector<Finding> findings = collect_findings(record);
  EXPECT_EQ(find(findings, "prefetch-wastes-memory"), nullptr);
}

// 8 x 500 us of decoding and 2 ms of launching are 6 ms of work for one core, which always works.
TEST(Findings, NamesStagesThatUseTrainersCore) {
  const RunRecord record =
      run("batch = 8\nsteps = 160\ncompute = 3ms\nworkers = 4\nprefetch = 4\ncores = 1\n"
          "cost = decode=500us:cpu\ncost = launch=2ms:cpu");
  EXPECT_EQ(analyse(record).verdict.bound_by, "contention");
  const std::vector<Finding> findings = collect_findings(record);
  const Finding* found = find(findings, "cpu-oversubscribed");
  ASSERT_NE(found, nullptr) << list_ids(findings);
  EXPECT_NE(found->evidence.find("; cores in use: decode 0.67, launch 0.33"), std::string::npos)
      << found->evidence;
  EXPECT_EQ(found->pytorch.find("other jobs"), std::string::npos) << "none was seen";
  const Finding* trainer = find(findings, "slow-trainer");
  ASSERT_NE(trainer, nullptr);
  EXPECT_NE(trainer->evidence.find(", 1.000 ms a step"), std::string::npos) << trainer->evidence;
}

// The account is the mean over the ranks, and so is what a step waits.
TEST(Findings, ReportsSameTrainerDelayForSeveralRanks) {
  const auto evidence_with = [](const char* ranks) {
    const std::vector<Finding> findings = collect_findings(
        run(std::string("batch = 8\nsteps = 160\ncompute = 10ms\nworkers = 4\nin-flight = 1\n"
                        "cost = launch=5ms:sleep\nranks = ") +
            ranks));
    const Finding* trainer = find(findings, "slow-trainer");
    return trainer != nullptr ? trainer->evidence : list_ids(findings);
  };
  EXPECT_NE(evidence_with("1").find(", 5.000 ms a step"), std::string::npos) << evidence_with("1");
  EXPECT_EQ(evidence_with("4"), evidence_with("1"));
}

// Ten steps an epoch, which waits for its first batch: workers that stay would wait for it, too.
TEST(Findings, BlamesRefillIfWorkersStartAtOnce) {
  const char* scenario =
      "batch = 8\nsteps = 160\ncompute = 20ms\nworkers = 4\nsamples = 80\ncost = "
      "decode=5ms:sleep\n";
  const auto with = [&](const char* start) {
    return collect_findings(run(scenario + std::string("cost = startup=") + start));
  };
  const std::vector<Finding> at_once = with("10us"), slowly = with("50ms");
  EXPECT_EQ(find(at_once, "workers-restarted"), nullptr) << list_ids(at_once);
  const Finding* refill = find(at_once, "epoch-refill");
  ASSERT_NE(refill, nullptr) << list_ids(at_once);
  EXPECT_EQ(refill->evidence.find("workers start at once, and every epoch"), 0U)
      << refill->evidence;
  EXPECT_NE(find(slowly, "workers-restarted"), nullptr) << list_ids(slowly);
  EXPECT_EQ(find(slowly, "epoch-refill"), nullptr) << list_ids(slowly);
}

// 84 measured steps see one or two of the epochs of 920 samples begin, by the warm-up.
TEST(Findings, ReportsEpochLengthInSteps) {
  const std::vector<Finding> findings =
      collect_findings(run("batch = 20\nsteps = 84\ncompute = 40ms\nworkers = 4\nsamples = 920\n"
                           "persistent-workers = true\ncost = decode=30ms:sleep"));
  const Finding* refill = find(findings, "epoch-refill");
  ASSERT_NE(refill, nullptr) << list_ids(findings);
  EXPECT_NE(refill->evidence.find("every epoch, of 46 steps, still begins"), std::string::npos)
      << refill->evidence;
}

TEST(Findings, NamesOtherPrograms) {
  RunRecord record = run(COMPUTE "workers = 4\ncores = 2\ncost = decode=4ms");
  on_busy_cores(record);
  const double window = seconds(record.ranks[0].window());
  add_metric(record, "host.other_cpu_s", 1.5 * window);
  add_metric(record, "process.cpu_s", 0.5 * window);
  record.details = {{"host.other_cpu_s", "cc1plus", 0.8}, {"host.other_cpu_s", "ld", 0.2}};
  const std::vector<Finding> findings = collect_findings(record);
  const Finding* found = find(findings, "other-programs");
  ASSERT_NE(found, nullptr) << list_ids(findings);
  EXPECT_NE(found->evidence.find("other programs took 1.5 of 4 cores (cc1plus 80.0 %, ld 20.0 %)"),
            std::string::npos)
      << found->evidence;
  EXPECT_NE(found->evidence.find(", 75.0 % of that because of them"), std::string::npos)
      << found->evidence;
}

TEST(Findings, PutsWrongDataFirstWithoutPrediction) {
  const std::vector<Finding> findings = collect_findings([] {
    RunRecord record = run(COMPUTE "workers = 1\ncost = decode=4ms");
    add_metric(record, "data.alike_seeds", 3);
    record.details = {{"data.alike_seeds", "numpy"}};
    return record;
  }());
  ASSERT_GE(findings.size(), 2U);
  EXPECT_EQ(findings.front().id, "workers-share-random-numbers");
  EXPECT_TRUE(findings.front().wrong_data);
  EXPECT_EQ(findings.front().regained_s, 0);
  EXPECT_NE(findings.front().evidence.find("random numbers: numpy"), std::string::npos);
  EXPECT_EQ(findings[1].id, "too-few-workers");
  EXPECT_FALSE(findings[1].wrong_data);
}

TEST(Findings, ReportsWrongDataWithoutVerdict) {
  RunRecord record = run("batch = 8\nsteps = 10\ncompute = 1ms\nworkers = 1\ncost = decode=4ms");
  add_metric(record, "data.repeated_orders", 1);
  const std::vector<Finding> findings = collect_findings(record);
  ASSERT_GE(findings.size(), 1U);
  EXPECT_EQ(findings.front().id, "same-order-every-epoch");
}

TEST(Findings, IgnoresUnnamedSamplesInRankComparison) {
  RunRecord record = run(COMPUTE "workers = 4\nranks = 2\ncost = decode=1ms");
  record.ranks[1].reservoir = record.ranks[0].reservoir;
  EXPECT_TRUE(has(collect_findings(record), "ranks-see-same-data"));
  add_metric(record, "data.unnamed_samples", 1);
  EXPECT_FALSE(has(collect_findings(record), "ranks-see-same-data"));
  add_metric(record, "data.alike_ranks", 1);
  EXPECT_TRUE(has(collect_findings(record), "ranks-see-same-data"));
}

TEST(Findings, SaysWhichStateIsStaleOrExhausted) {
  const auto stale =
      findings_with({{"data.stale_settings", 1}}, {{"data.stale_settings", "dataset.difficulty"}});
  ASSERT_NE(find(stale, "workers-have-stale-state"), nullptr);
  EXPECT_NE(find(stale, "workers-have-stale-state")->evidence.find("dataset.difficulty"),
            std::string::npos);
  const auto dry = findings_with({{"data.exhausted_streams", 2}});
  ASSERT_NE(find(dry, "workers-have-stale-state"), nullptr);
  EXPECT_NE(find(dry, "workers-have-stale-state")->evidence.find("2 epochs"), std::string::npos);
}

TEST(Findings, IgnoresDistantLimits) {
  EXPECT_TRUE(
      has(findings_with({{"memory.shm_limit_bytes", 64e6}, {"memory.shm_peak_bytes", 63e6}}),
          "memory-limit-near"));
  EXPECT_FALSE(
      has(findings_with({{"memory.shm_limit_bytes", 64e6}, {"memory.shm_peak_bytes", 6e6}}),
          "memory-limit-near"));
  EXPECT_FALSE(
      has(findings_with({{"files.limit", 1024}, {"files.open", 200}}), "open-files-near-limit"));
  EXPECT_FALSE(has(findings_with({{"collate.padding_share", 0.1}}), "padding-waste"));
  EXPECT_FALSE(has(findings_with({{"gil.trainer_wait_share", 0.05}}), "interpreter-lock"));
}

TEST(Findings, KeepsOtherAdviceIfOneDoesNotFit) {
  for (const char* text : {COMPUTE "workers = 0\ncost = decode=8ms",
                           COMPUTE "workers = 1\ntask = sample\nwindow = 8\ncost = decode=8ms",
                           COMPUTE "workers = 1\nprefetch = 1\ncost = decode=8ms"}) {
    RunRecord record = run(text);
    add_metric(record, "memory.shm_limit_bytes", 64e6);
    add_metric(record, "memory.shm_peak_bytes", 63e6);
    const auto findings = collect_findings(record);
    EXPECT_GT(findings.size(), 1U) << text;
    ASSERT_NE(find(findings, "memory-limit-near"), nullptr) << text;
    EXPECT_EQ(find(findings, "memory-limit-near")->pytorch, "docker run --shm-size with more");
  }
}

TEST(Findings, AcceptsSamplesRepeatedToEvenRanks) {
  const RunRecord record =
      run(COMPUTE "workers = 1\nranks = 8\nsamples = 60\ncores = 16\ncost = decode=1ms");
  EXPECT_FALSE(has(collect_findings(record), "ranks-see-same-data"));
}

// The pools of workers that were watched from outside.
TEST(Findings, ReportsThreadPoolsInWorkers) {
  const auto with_pool_time = [](double pool_s) {
    RunRecord record = run(COMPUTE "workers = 4\ncores = 2\ncost = decode=4ms");
    on_busy_cores(record);
    add_metric(record, "workers.threads", 10);
    add_metric(record, "workers.cv2_threads", 8);
    add_metric(record, "workers.cpu_s", 50);
    add_metric(record, "workers.beside_cpu_s", pool_s);
    return collect_findings(record);
  };
  const auto findings = with_pool_time(25);
  const Finding* pools = find(findings, "nested-thread-pools");
  ASSERT_NE(pools, nullptr) << list_ids(findings);
  EXPECT_NE(pools->evidence.find("32 of 40 threads"), std::string::npos) << pools->evidence;
  EXPECT_NE(pools->evidence.find("cv2 is set to 8"), std::string::npos) << pools->evidence;
  EXPECT_FALSE(has(with_pool_time(2), "nested-thread-pools"));
}

// --cost decode=40ms:sleep has no images that could be smaller.
TEST(Findings, SpeaksOfNoImagesForDeclaredCost) {
  RunRecord record = run(COMPUTE "workers = 16\ncost = decode=40ms");
  EXPECT_EQ(find(collect_findings(record), "decode-bound")->pytorch,
            "a faster decoder or smaller samples");
  record.config.declared.cost = {};
  EXPECT_TRUE(
      find(collect_findings(record), "decode-bound")->pytorch.starts_with("store smaller images"));
}

TEST(Findings, NamesUsersCodeOfSlowStage) {
  RunRecord record = run(COMPUTE "workers = 16\ncost = decode=1ms\ncost = augment=40ms");
  record.details = {{"augment", "RandomCrop", 0.75}, {"augment", "Normalize", 0.25}};
  const auto findings = collect_findings(record);
  ASSERT_NE(find(findings, "augment-bound"), nullptr);
  EXPECT_NE(find(findings, "augment-bound")->evidence.find("RandomCrop 75.0 %, Normalize 25.0 %"),
            std::string::npos)
      << find(findings, "augment-bound")->evidence;
}

}  // namespace
}  // namespace loaderscope
