// Samples of stacks, as py-spy and CPython's profiling.sampling write them, and what is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/import/import_engine.h"
#include "loaderscope/analysis.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::traces {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kNext = "_BaseDataLoaderIter.__next__ (torch/utils/data/dataloader.py:725)";
constexpr const char* kWait = "wait (multiprocessing/connection.py:947)";

class Sampled : public ::testing::Test {
 protected:
  std::string saved(const std::string& text) {
    const std::string path = folder_.path() + "/profile";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  RunRecord read(const std::string& text, double rate = 100) {
    return read_traces({{saved(text)}, "", 0, rate});
  }
  std::string refusal(const std::string& text, double rate = 100) {
    try {
      read(text, rate);
    } catch (const RunError& error) {
      return error.what();
    }
    return "it was read";
  }

  source::TempFolder folder_;
};

// 60 of training, 40 of waiting; 30 of imports, 5 of another thread's own next and 99 of a feeder.
std::string py_spy() {
  const std::string main = "<module> (t.py:9);main (t.py:5);";
  return main + "step (t.py:2) 60\n" + main + kNext + ";get (queue.py:1);" + kWait + " 40\n" +
         "<module> (t.py:1);_find_and_load (<frozen importlib._bootstrap>:1176) 30\n" +
         "Thread._bootstrap (threading.py:1002);" + kNext + " 5\n" +
         "Thread._bootstrap (threading.py:1002);Queue._feed (multiprocessing/queues.py:231);"
         "Condition.wait (threading.py:327) 99\n 12\n";
}

TEST_F(Sampled, AnswersWithShareInDataLoader) {
  const RunRecord record = read(py_spy());
  const Analysis analysis = analyse(record);
  EXPECT_EQ(analysis.account.window, kSecond);
  EXPECT_EQ(analysis.account.stall[Cause::opaque], 400 * kMillisecond);
  EXPECT_EQ(analysis.account.compute, 600 * kMillisecond);
  EXPECT_EQ(value_of(record.metrics, "profile.samples"), 100);
  EXPECT_EQ(value_of(record.metrics, "profile.waiting"), 40);
  EXPECT_EQ(value_of(record.metrics, "loader.batches"), std::nullopt);
  EXPECT_EQ(value_of(record.metrics, "gap.loader_wait_at_s"), std::nullopt);
  EXPECT_THAT(analysis.verdict.sentence,
              HasSubstr("Training busy 60.0 % of the time: it waits mostly for the DataLoader "
                        "(40.0 %); no verdict: samples of stacks show shares"));
  EXPECT_THAT(record.notes, Contains(HasSubstr("40 of the training thread's 100 are in the "
                                               "DataLoader (40.0 %, 95 %: 30.9 to 49.8)")));
}

TEST_F(Sampled, ReadsLinesOfProfilingSampling) {
  const RunRecord record = read(
      "tid:7;t.py:main:5;dataloader.py:__next__:700;connection.py:wait:900 25\n"
      "tid:7;t.py:main:5;t.py:step:2 75\ntid:8;threading.py:_bootstrap:9;threading.py:wait:3 9\n");
  EXPECT_EQ(value_of(record.metrics, "profile.waiting"), 25);
  EXPECT_EQ(value_of(record.metrics, "profile.own"), 75);
}

TEST_F(Sampled, CountsMakingAndPinningWithoutWorkers) {
  const std::string next = std::string("main (t.py:5);") + kNext + ";";
  const RunRecord record = read(next +
                                "_MapDatasetFetcher.fetch (torch/utils/data/_utils/fetch.py:54)"
                                ";__getitem__ (t.py:3) 30\n" +
                                next +
                                "pin_memory (torch/utils/data/_utils/pin_memory.py:60) 10\n"
                                "main (t.py:5);step (t.py:2) 60\n");
  EXPECT_EQ(value_of(record.metrics, "profile.making"), 30);
  EXPECT_EQ(value_of(record.metrics, "profile.pinning"), 10);
  EXPECT_EQ(record.config.loader.num_workers.value, 0);
  EXPECT_THAT(record.notes, Contains(HasSubstr("no sample is of a thread that waits")));
}

// The samples of a worker's own loop are not the trainer's, however many they are.
TEST_F(Sampled, ExcludesWorkersFromTrainingThread) {
  const std::string worker = R"(process 2:"x";main (t.py:5);_worker_loop )"
                             "(torch/utils/data/_utils/worker.py:1);" +
                             std::string(kNext);
  const RunRecord record =
      read(worker + " 500\nprocess 1:\"x\";main (t.py:5);" + kNext + ";" + kWait +
           " 20\nprocess 1:\"x\";main (t.py:5) 80\n" + worker + ";" + kWait + " 50\n");
  EXPECT_EQ(value_of(record.metrics, "profile.samples"), 100);
}

constexpr const char* kSpeedscope = R"({
"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[
{"type":"sampled","name":"Thread 1 \"MainThread\"","unit":"seconds","startValue":0,"endValue":1,
 "samples":[[0],[0],[0,1,2],[0,1,2],[0,3],[0,3],[0,3],[0,1,2],[0]],
 "weights":[0.01,0.01,0.01,0.01,0.01,0.01,0.01,0.01,0.01]},
{"type":"sampled","name":"Thread 2 \"QueueFeederThread\"","unit":"seconds","startValue":0,
 "endValue":1,"samples":[[2],[2]],"weights":[0.01,0.01]}],
"shared":{"frames":[{"name":"main","file":"t.py","line":5},
{"name":"_BaseDataLoaderIter.__next__","file":"/x/torch/utils/data/dataloader.py","line":725},
{"name":"wait","file":"/x/multiprocessing/connection.py","line":947},
{"name":"step","file":"t.py","line":2}]},"exporter":"py-spy@0.4.3"})";

// The samples are in order: those before the first ask and after the last are not training.
TEST_F(Sampled, ReadsTimesOfSpeedscope) {
  const RunRecord record = read(kSpeedscope, 0);
  const Analysis analysis = analyse(record);
  EXPECT_EQ(analysis.account.window, 60 * kMillisecond);
  EXPECT_EQ(analysis.account.stall[Cause::opaque], 30 * kMillisecond);
  EXPECT_EQ(value_of(record.metrics, "gap.loader_wait_longest_s"), 0.02);
}

// A profile of CPython's gecko_collector: a stack has the number of the stack that it extends. File
// names have no folders and follow all threads. Stack 0 is main, 1 __next__, 2 wait, 3 step; 4 is
// an import.
constexpr const char* kGecko =
    R"json({"meta":{"interval":10.0,"startTime":5.5,"misc":"Python profiler",
"categories":[{"name":"Other","color":"grey","subcategories":["Other"]}],"stackwalk":0,
"version":32,"extensions":{"id":[],"length":0}},"libs":[],"threads":[
{"name":"Thread-7","isMainThread":true,"pid":"9","tid":7,
 "samples":{"stack":[4,0,2,2,3,3,3,2,0],"time":[0,10,20,30,40,50,60,70,80],
  "eventDelay":[null,null],"weight":null,"weightType":"samples","length":9},
 "stackTable":{"frame":[0,1,2,3,4],"category":[1,1,1,1,1],"prefix":[null,0,1,0,null],"length":5},
 "frameTable":{"address":[-1,-1],"func":[0,1,2,3,4],"line":[5,700,900,2,1],"nativeSymbol":[null]},
 "funcTable":{"name":[1,3,5,7,8],"isJS":[true,true],"resource":[0,1,2,0,3],"fileName":[2,4,6,2,null]},
 "resourceTable":{"lib":[null],"name":[2,4,6,9],"type":[1,1,1,1],"length":4},
 "markers":{"data":[{"type":"OffCPU","duration":2.5,"tid":7}],"name":[10],"startTime":[0.5]}},
{"name":"Thread-8","samples":{"stack":[0,0],"time":[0,10],"length":2},
 "stackTable":{"frame":[0],"prefix":[null]},"frameTable":{"func":[0]},
 "funcTable":{"name":[5],"resource":[0]},"resourceTable":{"name":[6]}}],"pages":[],
"shared":{"stringArray":["(root)","main","t.py","__next__","dataloader.py","wait","connection.py",
"step","_find_and_load","<frozen importlib._bootstrap>","Off CPU"],"sources":{"length":0}}})json";

TEST_F(Sampled, ReadsGeckoByItsTables) {
  const RunRecord record = read(kGecko, 0);
  const Analysis analysis = analyse(record);
  EXPECT_EQ(analysis.account.window, 60 * kMillisecond);
  EXPECT_EQ(analysis.account.stall[Cause::opaque], 30 * kMillisecond);
  EXPECT_EQ(value_of(record.metrics, "profile.waiting"), 3);
  EXPECT_EQ(value_of(record.metrics, "profile.own"), 3);
  EXPECT_EQ(value_of(record.metrics, "gap.loader_wait_longest_s"), 0.02);
}

// Numbers that lead nowhere are unknown frames. A stack that extends a later one begins there.
TEST_F(Sampled, SurvivesGeckoTablesThatDoNotFit) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"[null,0,1,0,null]", "[4,3,2,1,0]"},
           {"[null,0,1,0,null]", "[null,99,1e30,-7,null]"},
           {"\"func\":[0,1,2,3,4]", "\"func\":[0,1]"},
           {"\"name\":[1,3,5,7,8]", "\"name\":[77]"},
           {"[4,0,2,2,3,3,3,2,0]", "[null,\"2\",{},[2],5]"},
           {"\"frame\":[0,1,2,3,4]", "\"frame\":1"}}) {
    std::string text = kGecko;
    text.replace(text.find(from), from.size(), to);
    EXPECT_THAT(refusal(text), testing::AnyOf(HasSubstr("cannot answer"), "it was read")) << to;
  }
}

TEST_F(Sampled, RejectsProfilesThatCannotAnswer) {
  const std::string never = "main (t.py:5);step (t.py:2) 60\n";
  EXPECT_THAT(refusal(never), HasSubstr("no sample is in a DataLoader's next"));
  // A profile of py-spy without --idle.
  EXPECT_THAT(refusal(never + "main (t.py:5);" + kNext + ";f (t.py:1) 9\nmain (t.py:5);" + kNext +
                      ";" + kWait +
                      " 4\nThread._bootstrap (threading.py:1002);Queue._feed "
                      "(multiprocessing/queues.py:231);Condition.wait (threading.py:327) 9\n"),
              HasSubstr("its samples leave out threads that wait"));
  EXPECT_THAT(refusal(py_spy(), 0), HasSubstr("--sample-rate"));
  EXPECT_THAT(refusal("<?xml version=\"1.0\"?><svg></svg>\n"), HasSubstr("it is a picture"));
  EXPECT_THAT(refusal("<!DOCTYPE html>\n<html>"), HasSubstr("it is a picture"));
  EXPECT_THAT(refusal(R"({"type":"meta","v":1,"run_id":"a"})"), HasSubstr("--collapsed"));
  EXPECT_THAT(refusal(R"({"meta":{"interval":1,"stackwalk":0}})"),
              HasSubstr("no samples of stacks"));
  EXPECT_THAT(refusal(R"({"meta":{"stackwalk":0}})"), HasSubstr("the time between two samples"));
  EXPECT_THAT(refusal("\xfb(anything"), HasSubstr("sums by function"));
  EXPECT_THAT(refusal(R"([{"args":{},"cat":"py-spy","ph":"B"}])"), HasSubstr("speedscope --idle"));
  std::string bytes = kSpeedscope;
  bytes.replace(bytes.find("\"seconds\""), 9, "\"bytes\"");
  EXPECT_THAT(refusal(bytes), HasSubstr("is no time"));
}

TEST_F(Sampled, RejectsSecondFile) {
  const std::string path = saved(kSpeedscope);
  EXPECT_THROW(read_traces({{path, path}, "", 0, 100}), RunError);
}

TEST_F(Sampled, RejectsDamagedProfilesInOneSentence) {
  const std::string whole = kSpeedscope;
  for (std::size_t length = 80; length + 40 < whole.size(); length += 37)
    EXPECT_THAT(refusal(whole.substr(0, length)), HasSubstr("cut off or damaged"));
  EXPECT_THAT(refusal(py_spy() + "no count\n"), HasSubstr("line 7 is no stack with a count"));
  EXPECT_THAT(refusal(py_spy() + "a 99999999999999999999\n"), HasSubstr("line 7"));
  EXPECT_THAT(refusal(std::string("{\"$schema\":\"speedscope.app/file-format-schema\",\"a\":") +
                      std::string(1000, '[')),
              HasSubstr("nested deeper"));
}

}  // namespace
}  // namespace loaderscope::traces
