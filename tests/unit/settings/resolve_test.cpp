#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Given = std::vector<std::pair<const char*, const char*>>;

struct Resolved {
  RunConfig config;
  std::vector<std::string> notes;
};

Resolved resolved(const Given& given, double cores = 4) {
  RunConfig config;
  for (const auto& [key, value] : given) set_field(config, "", key, value);
  if (!config.trainer.compute.given && config.trainer.device.value != "null")
    set_field(config, "", "compute", "12ms");
  Resolved result;
  result.config = resolve_to_predict(config, {cores}, result.notes);
  return result;
}

std::string error_of_given(const Given& given) {
  try {
    resolved(given);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Resolve, FillsDefaultsFromTheMachine) {
  EXPECT_EQ(resolved({}, 3.9).config.loader.num_workers, 3);
  EXPECT_EQ(resolved({}, 0.5).config.loader.num_workers, 1);
  EXPECT_EQ(resolved({}, 3.9).config.declared.cores, 3.9);
  EXPECT_EQ(resolved({{"cores", "2.5"}}).config.loader.num_workers, 2);
  EXPECT_EQ(resolved({}).config.loader.executor, Executor::threads);
  EXPECT_THAT(resolved({}).notes, IsEmpty());
}

TEST(Resolve, LetsTrainerMakeBatchesWithoutWorkers) {
  EXPECT_EQ(resolved({{"workers", "0"}}).config.loader.executor, Executor::inline_);
  EXPECT_EQ(resolved({{"executor", "inline"}}).config.loader.num_workers, 0);
}

TEST(Resolve, ComputesPrefetchDepthOfSampleTasks) {
  EXPECT_EQ(resolved({{"task", "sample"}, {"prefetch", "3"}, {"workers", "5"}})
                .config.loader.prefetch_depth,
            15);
  EXPECT_EQ(resolved({{"task", "sample"}, {"prefetch-depth", "7"}}).config.loader.prefetch_depth,
            7);
}

TEST(Resolve, TranslatesPinMemoryToMemoryMode) {
  EXPECT_EQ(resolved({{"pin-memory", "true"}}).config.loader.memory, MemoryMode::pin_thread);
  EXPECT_EQ(resolved({{"pin-memory", "true"}, {"memory", "pin-thread"}}).config.loader.memory,
            MemoryMode::pin_thread);
  EXPECT_EQ(resolved({{"pin-memory", "false"}}).config.loader.memory, MemoryMode::pageable);
  EXPECT_EQ(resolved({{"pin-memory", "false"}, {"memory", "registered"}}).config.loader.memory,
            MemoryMode::registered);
  EXPECT_THAT(error_of_given({{"pin-memory", "true"}, {"memory", "pageable"}}),
              HasSubstr("pin-memory"));
  EXPECT_THAT(error_of_given({{"pin-memory", "false"}, {"memory", "pin-thread"}}),
              HasSubstr("no-pin-memory"));
}

TEST(Resolve, RefusesContradictionsAndNamesThem) {
  const std::vector<std::pair<Given, const char*>> cases = {
      {{{"workers", "0"}, {"persistent-workers", "true"}}, "persistent-workers = true"},
      {{{"workers", "0"}, {"prefetch-factor", "4"}}, "prefetch-factor = 4"},
      {{{"workers", "0"}, {"mp-context", "spawn"}}, "mp-context = spawn"},
      {{{"workers", "0"}, {"prefetch-depth", "4"}}, "prefetch-depth = 4"},
      {{{"workers", "0"}, {"executor", "processes"}}, "executor = processes"},
      {{{"workers", "0"}, {"task", "sample"}}, "task = sample"},
      {{{"workers", "2"}, {"executor", "inline"}}, "num-workers = 2"},
      {{{"task", "sample"}, {"prefetch-depth", "4"}, {"prefetch", "2"}}, "prefetch-factor = 2"},
      {{{"prefetch-depth", "4"}}, "prefetch-depth = 4"},
      {{{"steps", "10"}, {"duration", "5s"}}, "steps = 10"},
      {{{"epochs", "2"}}, "epochs = 2"},
      {{{"drop-last", "true"}, {"samples", "63"}}, "samples = 63"},
      {{{"cost", "read=1ms"}, {"storage-latency", "1ms"}}, "storage-latency = 1ms"},
      {{{"cost", "read=1ms"}, {"storage-bandwidth", "1GB/s"}}, "storage-bandwidth = 1GB/s"},
      {{{"device", "null"}, {"compute", "1ms"}}, "compute = 1ms"},
      {{{"workers", "2"}, {"inject", "read=+1ms@worker=2"}}, "worker below 2"},
      {{{"inject", "read=+1ms@rank=1"}}, "rank below 1"},
  };
  for (const auto& [given, expected] : cases)
    EXPECT_THAT(error_of_given(given), HasSubstr(expected));
}

std::string error_of_run(const Given& given) {
  RunConfig config;
  std::vector<std::string> notes;
  try {
    for (const auto& [key, value] : given) set_field(config, "", key, value);
    resolve(config, {4}, notes);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Resolve, RefusesToRunSettingsOfModelOnly) {
  const char* const only_the_model =
      ": only the model can change the machine; leave it out, or give --engine model";
  EXPECT_EQ(error_of_run({{"cost", "decode=1ms"}, {"cores", "2"}}),
            std::string("cores = 2") + only_the_model);
  EXPECT_EQ(error_of_run({{"storage-latency", "1ms"}}),
            std::string("storage-latency = 1ms") + only_the_model);
  EXPECT_EQ(error_of_run({{"engine", "model"}, {"storage-latency", "1ms"}, {"cores", "2"}}), "");
  EXPECT_EQ(error_of_given({{"storage-latency", "1ms"}, {"cores", "2"}}), "");
}

TEST(Resolve, RefusesWorkOfDeviceThatItCannotDo) {
  const Given made = {
      {"decode", "split:0.5"}, {"cost", "gpu-decode=1us"}, {"cost", "gpu-augment=1us"}};
  const auto with = [&](Given more) {
    more.insert(more.end(), made.begin(), made.end());
    return error_of_run(more);
  };
  EXPECT_EQ(with({{"device", "sim"}}), "");
  EXPECT_EQ(with({{"device", "sim"}, {"data", "here"}}), "");
  EXPECT_EQ(with({{"device", "sim"}, {"data", "here"}, {"prove", "all"}}),
            "prove = all: cannot skip a stage here, because the GPU would get no images; "
            "remove --prove, or give --try");
}

TEST(Resolve, RequiresDeclaredStorageForReadAhead) {
  EXPECT_EQ(error_of_given({{"storage-latency", "1ms"}, {"queue-depth", "8"}}), "");
  for (const Given& given :
       {Given{{"cost", "read=1ms"}, {"queue-depth", "8"}},
        Given{{"storage-latency", "1ms"}, {"queue-depth", "8"}, {"storage-concurrency", "2"}},
        Given{
            {"storage-latency", "1ms"}, {"queue-depth", "8"}, {"stored-bytes", "uniform:1KB:9KB"}}})
    EXPECT_NE(error_of_given(given).find("queue-depth = 8: "), std::string::npos);
}

TEST(Resolve, ReadsAheadOnlyIfGivenForDeclaredReads) {
  const auto depth = [](const Given& given) {
    return resolved(given).config.data.queue_depth.value;
  };
  EXPECT_EQ(depth({{"cost", "read=1ms"}}), 0);
  EXPECT_EQ(depth({{"storage-latency", "1ms"}}), 0);
  EXPECT_EQ(depth({{"storage-concurrency", "2"}, {"cost", "decode=1ms"}}), 0);
  EXPECT_EQ(depth({{"storage-bandwidth", "1GB/s"}, {"queue-depth", "4"}}), 4);
}

TEST(Resolve, RefusesMemoryThatWorkerProcessesCannotShare) {
  const Given given = {
      {"cost", "decode=1ms"}, {"executor", "processes"}, {"memory", "write-combined"}};
  EXPECT_THAT(error_of_run(given), HasSubstr("memory = write-combined: the driver makes"));
  EXPECT_EQ(error_of_given(given), "");
}

TEST(Resolve, RefusesOperationsBeforeDataIsOpened) {
  EXPECT_EQ(error_of_run({{"data", "/nowhere"}, {"augment", "flip"}}).substr(0, 9), "augment: ");
  EXPECT_EQ(error_of_run({{"data", "/nowhere"}}), "");
}

TEST(Resolve, RefusesImpossibleSizes) {
  const std::vector<std::pair<Given, const char*>> cases = {
      {{{"in-flight", "0"}}, "in-flight = 0: expected at least 1"},
      {{{"batch-size", "0"}}, "batch-size = 0: expected at least 1"},
      {{{"ranks", "0"}}, "ranks = 0: expected at least 1"},
      {{{"size", "0"}}, "size = 0: expected at least 1"},
      {{{"cores", "0"}}, "cores = 0"},
      {{{"prefetch", "0"}}, "prefetch-factor = 0"},
      {{{"size", "65537"}}, "at most 65536"},
      {{{"workers", "65537"}}, "num-workers = 65537: expected at most 65536"},
      {{{"workers", "65536"}, {"prefetch", "257"}}, "16777216"},
      {{{"workers", "65536"}, {"ranks", "17"}}, "1048576"},
      {{{"batch", "2000000000"}}, "batch-size = 2000000000: expected at most 16777216"},
      {{{"batch", "1024"}, {"delivered-bytes", "4GB"}}, "1 TiB"},
      {{{"batch", "1024"}, {"stored-bytes", "4GB"}}, "1 TiB"},
      {{{"steps", "1000000000000"}, {"delivered-bytes", "10GB"}}, "2^62"},
      {{{"workers", "65536"}, {"prefetch", "256"}, {"delivered-bytes", "17GB"}, {"ranks", "16"}},
       "in flight"},
      {{{"delivered-bytes", "9223372036854775807"}}, "1 TiB"},
      {{{"duration", "900000h"}}, "100 years"},
      {{{"warmup", "900000h"}}, "100 years"},
      {{{"storage-latency", "721h"}}, "30 days"},
      {{{"duration", "0"}}, "duration = 0"},
      {{{"epochs", "9999999999"}, {"samples", "100"}}, "at most 2147483647"},
      {{{"samples", "9223372036854775807"}}, "samples"},
  };
  for (const auto& [given, expected] : cases)
    EXPECT_THAT(error_of_given(given), HasSubstr(expected));
}

TEST(Resolve, RefusesARunThatNeverEnds) {
  const std::string nothing = "nothing takes any time; give --data, --cost or --compute";
  EXPECT_EQ(error_of_given({{"compute", "0"}}), nothing);
  EXPECT_EQ(error_of_given({{"device", "null"}}), nothing);
  EXPECT_EQ(error_of_given({{"device", "null"}, {"link", "c2c"}}), nothing);
  EXPECT_EQ(error_of_given({{"engine", "model"}, {"device", "null"}, {"cost", "startup=1s"}}),
            nothing);
  EXPECT_EQ(error_of_given({{"engine", "model"}, {"device", "null"}, {"cost", "pin=1ms"}}),
            nothing);
  EXPECT_EQ(error_of_given({{"engine", "native"}, {"device", "null"}, {"cost", "pin=1ms"}}), "");
  EXPECT_EQ(error_of_given({{"device", "null"}, {"cost", "decode=1ms"}}), "");
  EXPECT_EQ(error_of_given({{"device", "null"}, {"storage-latency", "1ms"}}), "");
  EXPECT_EQ(error_of_given({{"compute", "0"}, {"link", "c2c"}}), "");
  EXPECT_EQ(error_of_given({{"compute", "0"}, {"inject", "decode=+1ms@p=0.5"}}), "");
}

TEST(Resolve, NotesSettingsWithoutEffect) {
  EXPECT_THAT(resolved({{"mp-context", "spawn"}}).notes, Contains(HasSubstr("mp-context = spawn")));
  EXPECT_THAT(resolved({{"mp-context", "spawn"}, {"executor", "processes"}}).notes, IsEmpty());
  EXPECT_THAT(resolved({{"cost", "pin=1ms"}}).notes, Contains(HasSubstr("cost pin has no effect")));
  EXPECT_THAT(resolved({{"cost", "pin=1ms"}, {"pin-memory", "true"}}).notes, IsEmpty());
  EXPECT_THAT(resolved({{"sync-ranks", "true"}}).notes, Contains(HasSubstr("sync-ranks")));
  EXPECT_THAT(resolved({{"cost", "h2d=1ms"}, {"link", "c2c"}}).notes,
              Contains(HasSubstr("link = c2c")));
}

TEST(Resolve, PlacesAugmentationWhereItDecodes) {
  const Given decodes = {
      {"decode", "hw"}, {"cost", "gpu-decode=45us"}, {"cost", "gpu-augment=1us"}};
  EXPECT_EQ(resolved(decodes).config.image.augment_on, AugmentOn::gpu);
  EXPECT_FALSE(resolved(decodes).config.image.augment_on.given);
  EXPECT_EQ(resolved({}).config.image.augment_on, AugmentOn::host);
  EXPECT_FALSE(resolved({}).config.makes_on_device());
}

TEST(Resolve, RefusesWorkThatDeviceCannotDo) {
  const auto error = [](Given given) {
    given.emplace_back("decode", "hw");
    return error_of_given(given);
  };
  EXPECT_THAT(error({}), HasSubstr("the time of gpu-decode is unknown"));
  EXPECT_THAT(error({{"cost", "gpu-decode=45us"}}),
              HasSubstr("the time of gpu-augment is unknown"));
  EXPECT_THAT(error({{"workers", "0"}}), HasSubstr("needs workers"));
  EXPECT_THAT(error({{"device", "null"}}), HasSubstr("device = null makes nothing"));
  EXPECT_THAT(error({{"augment-on", "host"}}), HasSubstr("contradicts decode = hw"));
  EXPECT_THAT(
      error({{"device-prefetch", "0"}, {"cost", "gpu-decode=1us"}, {"cost", "gpu-augment=0"}}),
      HasSubstr("device-prefetch = 0"));
  EXPECT_THAT(error_of_given({{"augment-on", "gpu"}}),
              HasSubstr("the time of gpu-augment is unknown"));
}

TEST(Resolve, NotesWorkThatDeviceDoesNotDo) {
  const auto notes = resolved({{"cost", "gpu-decode=45us"}, {"device-prefetch", "3"}}).notes;
  EXPECT_THAT(notes, Contains(HasSubstr("cost gpu-decode has no effect")));
  EXPECT_THAT(notes, Contains(HasSubstr("device-prefetch = 3 has no effect")));
}

TEST(Resolve, PlacesAugmentationWhereDataIsKept) {
  const Given decoded = {{"resident", "decoded"}, {"samples", "100"}, {"cost", "gpu-augment=1us"}};
  const ImageConfig image = resolved(decoded).config.image;
  EXPECT_EQ(image.augment_on, AugmentOn::gpu);
  EXPECT_EQ(image.resident.value, (Resident{ResidentForm::decoded, 256}));
  EXPECT_EQ(find_field("resident")->text(resolved(decoded).config), "decoded:256");
  EXPECT_EQ(find_field("resident")->text(resolved({}).config), "no");
}

TEST(Resolve, RefusesDataThatGpuCannotKeep) {
  const auto error = [](Given given) {
    given.insert(given.end(), {{"cost", "gpu-decode=45us"}, {"cost", "gpu-augment=1us"}});
    return error_of_given(given);
  };
  const Given stored = {{"resident", "stored"}, {"decode", "hw"}};
  const auto with = [](Given given, const Given& more) {
    given.insert(given.end(), more.begin(), more.end());
    return given;
  };
  EXPECT_THAT(error(stored), HasSubstr("the data set is endless"));
  EXPECT_EQ(error(with(stored, {{"samples", "100"}})), "");
  EXPECT_THAT(error(with(stored, {{"samples", "100"}, {"workers", "0"}})),
              HasSubstr("needs workers"));
  EXPECT_THAT(error(with(stored, {{"samples", "100"}, {"augment-on", "host"}})),
              HasSubstr("contradicts"));
  EXPECT_THAT(error({{"resident", "stored"}, {"samples", "100"}}),
              HasSubstr("must decode them; give --decode hw"));
  EXPECT_THAT(error({{"resident", "decoded"}, {"decode", "hw"}, {"samples", "100"}}),
              HasSubstr("decoded once, before the first batch"));
  EXPECT_THAT(error({{"resident", "decoded"}, {"augment-on", "host"}, {"samples", "100"}}),
              HasSubstr("contradicts resident = decoded"));
  EXPECT_THAT(error({{"resident", "decoded:100"}, {"samples", "100"}}),
              HasSubstr("smaller than a sample; give --resident decoded:256"));
  EXPECT_THAT(error({{"resident", "decoded:5000"}, {"samples", "100"}}), HasSubstr("too large"));
  EXPECT_THAT(error({{"resident", "decoded"}, {"device", "null"}, {"samples", "100"}}),
              HasSubstr("device = null makes nothing"));
  EXPECT_THAT(error_of_given({{"resident", "decoded"}, {"samples", "100"}}),
              HasSubstr("the time of gpu-augment is unknown"));
}

TEST(Resolve, RefusesUnknownFormsOfResidentData) {
  EXPECT_THAT(error_of_given({{"resident", "stored:4"}}), HasSubstr("expected no, stored"));
  EXPECT_THAT(error_of_given({{"resident", "decoded:0"}}), HasSubstr("at least 1 pixel"));
  EXPECT_THAT(error_of_given({{"resident", "store"}}), HasSubstr("did you mean 'stored'?"));
  EXPECT_THAT(error_of_given({{"source", "gpu-resident"}}),
              HasSubstr("not where it is kept; give --resident stored"));
}

TEST(Resolve, KeepsGivenSettingsApartFromDefaults) {
  const RunConfig config = resolved({{"task", "sample"}}).config;
  EXPECT_TRUE(config.loader.task.given);
  EXPECT_FALSE(config.loader.num_workers.given);
  EXPECT_FALSE(config.loader.prefetch_depth.given);
}

}  // namespace
}  // namespace loaderscope
