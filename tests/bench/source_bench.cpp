// Sources of the same samples side by side, in the page cache; and an index of ten million samples.
// Ratios: --benchmark_enable_random_interleaving=true --benchmark_repetitions=20.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "base/fd.h"
#include "dataset/writer.h"
#include "source/file_source.h"
#include "source/index.h"
#include "source/registry.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSamples = 2000;
constexpr std::size_t kSampleBytes = 73 << 10;
constexpr std::int64_t kTokens = 32 << 20, kWindow = 1025, kLongWindow = 4097;
constexpr std::int64_t kIndexed = 10'000'000, kShardSamples = 10'000;

// The same bytes as files, as a shard, and as tokens; removed at the end.
class Data {
 public:
  Data() : folder_(fs::temp_directory_path() / fmt::format("loaderscope-bench-{}", ::getpid())) {
    fs::create_directories(folder_ / "files/class");
    std::mt19937_64 random(1);
    std::string bytes(kSampleBytes, '\0');
    const auto shard = dataset::open_tar_writer({folder_.string(), {kSamples, 1, 0}}, 0);
    for (std::int64_t i = 0; i < kSamples; ++i) {
      for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
        const std::uint64_t drawn = random();
        std::memcpy(bytes.data() + at, &drawn, 8);
      }
      const std::string name = fmt::format("{:06}.jpg", i);
      std::ofstream(folder_ / "files/class" / name, std::ios::binary) << bytes;
      shard->add({i, ".jpg", std::as_bytes(std::span(bytes)), 0});
    }
    shard->finish();
    std::ofstream tokens(folder_ / "tokens.bin", std::ios::binary);
    for (std::int64_t left = 2 * kTokens; left > 0; left -= std::ssize(bytes))
      tokens.write(bytes.data(), std::min<std::int64_t>(left, std::ssize(bytes)));
  }
  ~Data() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
};

const Data& data() {
  static const Data made;
  return made;
}

std::unique_ptr<Source> opened(const char* format, const char* name, FileAccess access,
                               FormatParameters words = {}) {
  SourceOptions options;
  options.paths = {data().path(name)};
  options.words = std::move(words);
  options.access = access;
  options.use_index_cache = false;
  return source_row(format).open(options, {});
}

// Samples in random order, as an epoch has them, to their place in a batch.
void read(benchmark::State& state, const Source& source) {
  const auto reader = source.make_reader();
  std::mt19937_64 random(2);
  std::vector<std::byte> batch(kSampleBytes);
  std::int64_t bytes = 0;
  for (auto _ : state) {
    const auto sample =
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(source.size()));
    const auto stored = reader->read_to(sample, batch.data());
    benchmark::DoNotOptimize(batch.data());
    bytes += std::ssize(stored);
  }
  state.SetBytesProcessed(bytes);
}

void files(benchmark::State& state) { read(state, *opened("files", "files", FileAccess::pread)); }
void tar_by_index(benchmark::State& state) {
  read(state, *opened("tar", "shard-000000.tar", FileAccess::pread));
}
BENCHMARK(files);
BENCHMARK(tar_by_index);

// Windows of `state.range(0)` tokens.
void tokens(benchmark::State& state, FileAccess access) {
  const FormatParameters words = {{"length", std::to_string(state.range(0))}, {"stride", "1"}};
  read(state, *opened("tokens", "tokens.bin", access, words));
}
void tokens_mmap(benchmark::State& state) { tokens(state, FileAccess::mmap); }
void tokens_pread(benchmark::State& state) { tokens(state, FileAccess::pread); }
BENCHMARK(tokens_mmap)->Arg(kWindow)->Arg(kLongWindow);
BENCHMARK(tokens_pread)->Arg(kWindow)->Arg(kLongWindow);

// The CPU begins nothing before it has ended all; only where such an instruction is known.
void wait_for_what_was_begun() {
#ifdef __x86_64__
  __builtin_ia32_lfence();
#endif
}

// Copies the same windows, as nanoGPT's get_batch does at least. The CPU fetches one window from
// memory while it copies another. `apart` prevents that.
void copy_windows(benchmark::State& state, const char* from, bool apart = false) {
  const std::int64_t window = state.range(0);
  std::mt19937_64 random(2);
  std::vector<std::byte> batch(kSampleBytes);
  for (auto _ : state) {
    const auto first = random() % static_cast<std::uint64_t>(kTokens - window);
    if (apart) wait_for_what_was_begun();
    std::memcpy(batch.data(), from + 2 * first, static_cast<std::size_t>(2 * window));
    benchmark::DoNotOptimize(batch.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 2 * window);
}

// Copies out of memory.
void tokens_memcpy(benchmark::State& state, bool apart) {
  std::ifstream file(data().path("tokens.bin"), std::ios::binary);
  std::vector<char> all(2 * kTokens);
  file.read(all.data(), std::ssize(all));
  copy_windows(state, all.data(), apart);
}
BENCHMARK_CAPTURE(tokens_memcpy, together, false)->Arg(kWindow)->Arg(kLongWindow);
BENCHMARK_CAPTURE(tokens_memcpy, apart, true)->Arg(kWindow)->Arg(kLongWindow);

// Copies out of the mapped file, as numpy.memmap does. No process may cut the file meanwhile.
void tokens_mapped_memcpy(benchmark::State& state) {
  const Fd fd(::open(data().path("tokens.bin").c_str(), O_RDONLY | O_CLOEXEC));
  void* mapped = ::mmap(nullptr, 2 * kTokens, PROT_READ, MAP_PRIVATE, fd, 0);
  if (mapped == MAP_FAILED) return state.SkipWithError("cannot be mapped");
  copy_windows(state, static_cast<const char*>(mapped));
  ::munmap(mapped, 2 * kTokens);
}
BENCHMARK(tokens_mapped_memcpy)->Arg(kWindow)->Arg(kLongWindow);

// Reads of 4 KiB past the page cache, 64 in flight. fio with the same parameters on a file there:
// fio --name=r --filename=FILE --rw=randread --bs=4k --ioengine=io_uring --iodepth=64 --direct=1
//   --size=64M --time_based --runtime=5
void ring_direct_depth_64(benchmark::State& state) {
  constexpr std::int64_t kAtOnce = 2048, kPage = 2048;  // tokens
  SourceOptions options;
  options.paths = {data().path("tokens.bin")};
  options.words = {{"length", std::to_string(kPage)}};
  options.access = FileAccess::io_uring_direct;
  options.queue_depth = 64;
  const auto source = source_row("tokens").open(options, {});
  if (source->access() != FileAccess::io_uring_direct)
    return state.SkipWithError("the kernel or the file system refuses");
  const auto reader = source->make_reader();
  std::mt19937_64 random(4);
  std::vector<std::int64_t> next(kAtOnce);
  std::size_t at = next.size();
  for (auto _ : state) {
    if (at == next.size()) {
      for (std::int64_t& one : next)
        one = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(source->size()));
      reader->expect(next);
      at = 0;
    }
    benchmark::DoNotOptimize(reader->read(next[at++]).data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(ring_direct_depth_64)->UseRealTime();

// Index of a thousand shards, as the cache folder contains it.
const source::Index& large_index() {
  static const source::Index index = [] {
    source::IndexBuilder builder;
    for (std::int64_t shard = 0; shard < kIndexed / kShardSamples; ++shard) {
      const std::string name = fmt::format("train-{:06}.tar", shard);
      const std::uint32_t folder = builder.add_folder({0, name, 0, {}});
      for (std::int64_t i = 0; i < kShardSamples; ++i) {
        builder.add(folder, fmt::format("{:09}.jpg", shard * kShardSamples + i));
        builder.place_last({static_cast<std::uint32_t>(3 + 300 * i), 110'000});
      }
    }
    return builder.finish("bench");
  }();
  return index;
}

void open_index_of_10_million(benchmark::State& state) {
  const std::string path = data().path("large.index");
  const auto bytes = large_index().bytes();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  for (auto _ : state) {
    auto memory = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(memory.get()), std::ssize(bytes));
    const auto index = source::Index::parse(std::move(memory), bytes.size());
    if (!index || index->samples() != kIndexed) state.SkipWithError("no index");
  }
  state.counters["MB"] = static_cast<double>(bytes.size()) / 1e6;
}
BENCHMARK(open_index_of_10_million)->Unit(benchmark::kMillisecond);

void look_up(benchmark::State& state) {
  const source::Index& index = large_index();
  std::mt19937_64 random(3);
  for (auto _ : state)
    benchmark::DoNotOptimize(index.extent(static_cast<std::int64_t>(random() % kIndexed)));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
void look_up_with_name(benchmark::State& state) {
  const source::Index& index = large_index();
  std::mt19937_64 random(3);
  std::string name;
  for (auto _ : state) {
    const auto sample = static_cast<std::int64_t>(random() % kIndexed);
    benchmark::DoNotOptimize(index.extent(sample));
    benchmark::DoNotOptimize(index.file(sample, name));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(look_up);
BENCHMARK(look_up_with_name);

}  // namespace
}  // namespace loaderscope
