// Advice fits the data that is read: folders of images, shards, arrays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/findings/finding_input.h"
#include "predict/fitted_model.h"
#include "unit/findings/users_code.h"

namespace loaderscope {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

#define COMPUTE "batch = 8\nsteps = 160\ncompute = 10ms\n"

// Runs the scenario as if its declared samples had been read from `source`.
RunRecord reading(std::string_view source, const std::string& scenario) {
  RunRecord record = test::run(scenario);
  record.engine = record.config.engine.value = "native";
  if (source == "synthetic") return record;
  record.config.data.source.value = source;
  record.config.data.paths.set({"data"});
  return record;
}

using Look = std::optional<Candidate> (*)(const FindingInput& facts);

std::optional<Candidate> look(Look row, const RunRecord& record) {
  const Analysis analysis = analyse(record);
  return row(FindingInput(record, analysis));
}

TEST(DataForms, AdvisesNoPackingForPackedFiles) {
  const std::string waits = COMPUTE "workers = 4\nstorage-latency = 20ms\ncost = decode=1ms";
  EXPECT_TRUE(look(small_files, reading("files", waits)));
  EXPECT_FALSE(look(small_files, reading("tar", waits)));
  EXPECT_FALSE(look(small_files, reading("npy", waits)));
  EXPECT_TRUE(look(storage_latency, reading("tar", waits)));
  RunRecord somebody_elses = reading("synthetic", waits);
  EXPECT_TRUE(look(small_files, somebody_elses));
  somebody_elses.metrics.push_back({"data.shards", "1", "", 2});
  EXPECT_FALSE(look(small_files, somebody_elses));
}

std::string advice_for_reads(std::string_view source) {
  return look(cpu_bound_reads, reading(source, COMPUTE "workers = 2\ncost = read=10ms:cpu"))
      .value()
      .pytorch;
}

TEST(DataForms, AdvisesOnCpuBoundReadsBySource) {
  EXPECT_THAT(advice_for_reads("synthetic"), HasSubstr("in place of pickle"));
  EXPECT_THAT(advice_for_reads("files"), HasSubstr("into shards"));
  EXPECT_EQ(advice_for_reads("tar"),
            "store smaller images, or try --access mmap, which asks the kernel for nothing");
  EXPECT_EQ(advice_for_reads("npy"),
            "store fewer bytes per sample (float16, uint8), or try --access mmap, which asks the "
            "kernel for nothing");
}

TEST(DataForms, AdvisesNoOtherAccessForStreams) {
  RunRecord streamed = reading("tar", COMPUTE "workers = 2\ncost = read=10ms:cpu");
  streamed.metrics.push_back({"data.shards", "1", "", 2});
  EXPECT_EQ(look(cpu_bound_reads, streamed).value().pytorch, "store smaller images");
}

TEST(DataForms, NamesCompressionOfShards) {
  const std::string scenario = COMPUTE "workers = 2\ncost = read=1ms\ncost = read.decompress=9ms";
  RunRecord shards = reading("tar", scenario);
  shards.details.push_back({"read.decompress", "gzip"});
  const Candidate candidate = look(decompression, shards).value();
  EXPECT_THAT(candidate.evidence, HasSubstr("decompression (gzip) takes 9.000 ms a sample, 90"));
  EXPECT_THAT(candidate.pytorch, HasSubstr("store the shards as they are"));
  EXPECT_THAT(look(decompression, reading("synthetic", scenario)).value().pytorch,
              HasSubstr("zstd or lz4"));
}

TEST(DataForms, SpeaksOfNoImagesForArrays) {
  const std::string full =
      COMPUTE "workers = 8\nstored-bytes = 1MB\nstorage-bandwidth = 100MB/s\nstorage-latency = 1us";
  EXPECT_THAT(look(storage_bandwidth, reading("files", full)).value().pytorch,
              HasSubstr("smaller images"));
  EXPECT_THAT(look(storage_bandwidth, reading("npy", full)).value().pytorch,
              Not(HasSubstr("image")));
}

TEST(DataForms, ReportsBytesReadPerUsedByte) {
  const std::string waits = COMPUTE "workers = 2\ncost = read=8ms";
  RunRecord chunks = reading("hdf5", waits);
  EXPECT_FALSE(look(read_amplification, chunks));
  chunks.metrics.push_back({"source.bytes_of_samples", "bytes", "", 1e6});
  chunks.metrics.push_back({"source.bytes_brought", "bytes", "", 64e6});
  const Candidate candidate = look(read_amplification, chunks).value();
  EXPECT_THAT(candidate.evidence, HasSubstr("brings 64.0 bytes for each that is used"));
  EXPECT_EQ(candidate.options.front(), (Changes{{"read.speed", "64"}}));
  EXPECT_THAT(candidate.pytorch, HasSubstr("h5repack"));
  RunRecord packed = reading("mds", waits);
  packed.metrics = chunks.metrics;
  packed.metrics.push_back({"source.bytes_unpacked", "bytes", "", 100e6});
  EXPECT_EQ(look(read_amplification, packed).value().options.front(),
            (Changes{{"read.speed", "100"}, {"read.decompress.speed", "100"}}));
  EXPECT_THAT(look(read_amplification, packed).value().pytorch, HasSubstr("store the shards"));
  packed.config.data.source.value = "parquet";  // shuffling groups is not for it: smaller ones are
  EXPECT_THAT(look(read_amplification, packed).value().pytorch, HasSubstr("smaller row groups"));
  RunRecord groups = reading("parquet", waits);  // only one page is unpacked
  groups.metrics = chunks.metrics;
  groups.metrics.push_back({"source.bytes_unpacked", "bytes", "", 3e6});
  EXPECT_THAT(look(read_amplification, groups).value().evidence, HasSubstr("brings 64.0 bytes"));
  groups.metrics.push_back({"source.requests", "1", "", 20});
  groups.metrics.push_back({"source.samples", "1", "", 20});
  groups.config.data.paths.set({"parquet:data"});
  const Candidate said = look(read_amplification, groups).value();
  EXPECT_THAT(said.evidence, HasSubstr("for each that is used, in reads of 3.20 MB:"));
  EXPECT_THAT(said.pytorch, HasSubstr("data pack 'parquet:data' parquet:smaller --row-group 1"));
}

TEST(DataForms, AdvisesProcessesForLibraryLock) {
  RunRecord record = reading("hdf5", COMPUTE "workers = 4\ncost = read=8ms:sleep");
  record.details.push_back({"read", "waiting for HDF5's lock", 0.75});
  EXPECT_FALSE(look(library_lock, record));
  record.metrics.push_back({"source.waited_for_lock_s", "s", "", 3});
  const Candidate candidate = look(library_lock, record).value();
  EXPECT_THAT(candidate.evidence, HasSubstr("75.0 % of reading is waiting for its lock"));
  EXPECT_EQ(candidate.options.front(), (Changes{{"read.speed", "4"}}));
  EXPECT_EQ(candidate.to_run, (Changes{{"executor", "processes"}}));
  record.config.loader.executor.value = Executor::processes;
  EXPECT_THAT(look(library_lock, record).value().to_run, IsEmpty());
}

// --transfer is for images: a run of arrays refuses it.
TEST(DataForms, AdvisesTransferOfBytesOnlyForImages) {
  const std::string link = COMPUTE "workers = 4\nlink = 0.3/0.1\ncopy = stream\ncost = decode=1ms";
  EXPECT_EQ(look(too_many_bytes_to_copy, reading("files", link)).value().to_run,
            (Changes{{"transfer", "u8"}}));
  const Candidate arrays = look(too_many_bytes_to_copy, reading("npy", link)).value();
  EXPECT_THAT(arrays.to_run, IsEmpty());
  EXPECT_EQ(arrays.options.front(),
            (Changes{{"h2d.speed", "2"}}));  // a number needs more than a byte
}

// --dct-scale is for images, too, and arrays are stored decoded.
TEST(DataForms, AdvisesNoDecodingForArrays) {
  const std::string busy = COMPUTE "workers = 4\ncores = 2\ncost = read=10ms:cpu";
  const Candidate candidate = look(cores_exhausted, reading("npy", busy)).value();
  EXPECT_THAT(candidate.direction, IsEmpty());
  EXPECT_THAT(candidate.to_run, IsEmpty());
  EXPECT_THAT(candidate.pytorch, Not(HasSubstr("decoded")));
}

// 20 ms / 64 is 312.5 us. The advice has whole microseconds.
TEST(DataForms, RoundsAdvisedLatency) {
  const std::string waits = COMPUTE "workers = 4\nstorage-latency = 20ms\ncost = decode=1ms";
  EXPECT_EQ(look(small_files, reading("files", waits)).value().options.front(),
            (Changes{{"storage-latency", "312us"}}));
}

// 8 samples of 5 KB over 1 MB/s are 40 ms. As images of the usual size they would be 4.8 s.
TEST(DataForms, PredictsFromDeliveredBytesOfArrays) {
  RunRecord record = reading("npy", COMPUTE
                             "workers = 4\nlink = 0.001/0.001\ncopy = stream\n"
                             "delivered-bytes = 5000\ncost = read=1ms:cpu");
  record.config.declared.cost = {};
  record.config.data.delivered_bytes.given = false;
  const Analysis analysis = analyse(record);
  const Prediction fitted = FittedModel(record).fitted();
  EXPECT_TRUE(goodness_of_fit(analysis, fitted).can_predict())
      << goodness_of_fit(analysis, fitted).sentence();
}

// Between threads the trainer waits to be woken, and for no message.
TEST(DataForms, ReportsSlowTransportOnlyForProcesses) {
  RunRecord record = reading("npy", COMPUTE "workers = 4\ncost = read=1ms:cpu");
  Analysis analysis = analyse(record);
  analysis.account.stall[Cause::transport] = analysis.account.window / 10;
  EXPECT_FALSE(slow_transport(FindingInput(record, analysis)));
  record.config.loader.executor.value = Executor::processes;
  EXPECT_TRUE(slow_transport(FindingInput(record, analysis)));
}

// The stages that make batches include unpacking, which is part of reading, and opaque work.
TEST(DataForms, CountsWorkOfWorkersAsMaking) {
  for (const Stage stage : kMakingStages) EXPECT_TRUE(makes_batches(stage_cause(stage)));
  EXPECT_FALSE(makes_batches(Cause::transport));
  EXPECT_FALSE(makes_batches(Cause::contention));
}

// Fewer workers or ranks do the same work on the same cores.
TEST(DataForms, AdvisesMoreCoresForAnyNumberOfRanks) {
  const std::string busy = COMPUTE "workers = 4\ncores = 2\ncost = decode=10ms";
  for (const char* ranks : {"", "\nranks = 2"})
    EXPECT_EQ(look(cpu_oversubscribed, reading("synthetic", busy + ranks)).value().pytorch,
              "a machine with {} cores");
}

// 4 requests at once take 16 ms each, of which 9 ms are to the first byte. The time of a request
// that runs alone distinguishes latency from a wait for other requests.
TEST(DataForms, AdvisesMoreRequestsForLatencyButNotForBandwidth) {
  const auto waiting = [](double alone) {
    RunRecord record = reading("files", COMPUTE
                               "workers = 1\ncost = read=4ms:sleep\n"
                               "cost = decode=1ms");
    record.config.data.access.value = FileAccess::http;
    const auto add = [&](const char* name, double value) {
      record.metrics.push_back({name, "1", "", value});
    };
    add("requests.sent", 1280);
    add("requests.bytes", 128e6);
    add("requests.first_byte_s", 9e-3);
    add("requests.time_s", 16e-3);
    add("requests.in_flight", 4);
    add("requests.alone", 20);
    add("requests.alone_s", alone);
    return record;
  };
  EXPECT_TRUE(look(storage_latency, waiting(9e-3)));
  EXPECT_FALSE(look(storage_bandwidth, waiting(9e-3)));
  EXPECT_FALSE(look(storage_latency, waiting(2e-3)));
  const std::optional<Candidate> full = look(storage_bandwidth, waiting(2e-3));
  ASSERT_TRUE(full);
  EXPECT_THAT(full->evidence, HasSubstr("2.000 ms to the first if no other runs at the same time"));
  EXPECT_THAT(full->evidence, HasSubstr("so a limit of each would look the same"));
  const auto with_others = [&](double slowed) {
    RunRecord record = waiting(2e-3);
    record.metrics.push_back({"requests.slowed_by_others", "1", "", slowed});
    return record;
  };
  EXPECT_FALSE(look(storage_bandwidth, with_others(0.1)));
  const std::optional<Candidate> more = look(storage_latency, with_others(0.1));
  ASSERT_TRUE(more);
  EXPECT_THAT(more->evidence, HasSubstr("each gets 7.14 MB/s by itself"));
  EXPECT_THAT(look(storage_bandwidth, with_others(0.9)).value().evidence,
              Not(HasSubstr("a limit of each")));
}

}  // namespace
}  // namespace loaderscope
