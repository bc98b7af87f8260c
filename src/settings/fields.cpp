// The table of fields: every setting of a run, once.
#include <algorithm>
#include <cmath>
#include <utility>

#include "loaderscope/augment.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "settings/codecs.h"
#include "settings/requirement.h"

namespace loaderscope {
namespace {

constexpr const char* kWhat = "What runs";
constexpr const char* kLoader = "The loader";
constexpr const char* kTrainer = "The trainer";
constexpr const char* kCosts = "Declared costs";
constexpr const char* kMeasurement = "The measurement";
constexpr const char* kAnswer = "The answer";

// What a row says of itself.
struct Description {
  std::string_view name;
  std::vector<std::string_view> aliases;
  std::string_view group;
  std::string_view value_name;
  std::string_view help;
  std::string_view default_words = "";
};

Field described(const Description& words) {
  Field field;
  field.name = words.name;
  field.aliases = words.aliases;
  field.group = words.group;
  field.value_name = words.value_name;
  field.help = words.help;
  field.default_words = words.default_words;
  return field;
}

// A field with one value.
template <class T>
Field one(const Description& words, Setting<T> RunConfig::*member, Codec<T> codec) {
  Field field = described(words);
  field.is_number = codec.is_number;
  field.set = [=](RunConfig& c, std::string_view text) { (c.*member).set(codec.parse(text)); };
  field.text = [=](const RunConfig& c) { return codec.spell((c.*member).value); };
  field.texts = [=](const RunConfig& c) {
    return std::vector<std::string>{codec.spell((c.*member).value)};
  };
  field.given = [=](const RunConfig& c) { return (c.*member).given; };
  field.mark_given = [=](RunConfig& c, bool given) { (c.*member).given = given; };
  return field;
}

Field on_off(const Description& words, Setting<bool> RunConfig::*member) {
  return one(words, member, switch_codec());
}

// A field with any number of values: `add` puts one in, `spell` gets the text of one.
template <class T>
Field many(const Description& words, Setting<std::vector<T>> RunConfig::*member,
           void (*add)(std::vector<T>&, std::string_view), std::string (*spell)(const T&)) {
  Field field = described(words);
  field.repeats = true;
  field.set = [=](RunConfig& c, std::string_view text) {
    // What is given takes the place of the default, and is added to what was given.
    std::vector<T> values = (c.*member).given ? (c.*member).value : std::vector<T>();
    add(values, text);
    (c.*member).set(std::move(values));
  };
  field.texts = [=](const RunConfig& c) {
    std::vector<std::string> texts;
    for (const T& value : (c.*member).value) texts.push_back(spell(value));
    return texts;
  };
  field.text = [=](const RunConfig& c) {
    const std::vector<T>& values = (c.*member).value;
    return values.empty() ? std::string() : spell(values.front());
  };
  field.given = [=](const RunConfig& c) { return (c.*member).given; };
  field.mark_given = [=](RunConfig& c, bool given) { (c.*member).given = given; };
  return field;
}

void add_cost(std::vector<Cost>& costs, std::string_view text) {
  Cost cost = parse_cost(text);
  const auto same = std::find_if(costs.begin(), costs.end(),
                                 [&](const Cost& c) { return c.stage == cost.stage; });
  if (same == costs.end()) {
    costs.push_back(std::move(cost));
  } else {
    *same = std::move(cost);
  }
}

void add_injection(std::vector<Injection>& injections, std::string_view text) {
  injections.push_back(parse_injection(text));
}

void add_requirement(std::vector<std::string>& requirements, std::string_view text) {
  parse_requirement(text);
  requirements.emplace_back(text);
}

void add_operation(std::vector<std::string>& operations, std::string_view text) {
  find_row(text.substr(0, text.find(':')), operation_table());
  operations.emplace_back(text);
}

void add_data(std::vector<std::string>& paths, std::string_view text) {
  if (text.empty()) throw ValueError("expected a path");
  paths.emplace_back(text);
}

void add_word(std::vector<std::string>& words, std::string_view text) {
  if (text.empty() && words.empty()) throw ValueError("expected a program");
  words.emplace_back(text);
}

std::string same_text(const std::string& text) { return text; }

// Where it is not given the value in force is what `memory` says; see resolve().
Field pin_memory_field() {
  Field field = on_off({"pin-memory", {}, kLoader, "", "PyTorch's word for --memory pin-thread."},
                       &RunConfig::pin_memory);
  field.text = [](const RunConfig& c) {
    const bool pins = c.pin_memory.given ? c.pin_memory.value : c.memory == MemoryMode::pin_thread;
    return std::string(pins ? "true" : "false");
  };
  field.texts = [text = field.text](const RunConfig& c) {
    return std::vector<std::string>{text(c)};
  };
  return field;
}

using Table = std::vector<Field>;

void add_what_runs(Table& t) {
  using C = RunConfig;
  t.push_back(
      one({"engine", {}, kWhat, "NAME", "What produces the run; see 'loaderscope list engine'."},
          &C::engine, engine_codec()));
  t.push_back(many<std::string>(
      {"command",
       {},
       kWhat,
       "WORD",
       "A word of the training program to run and measure; 'run -- COMMAND...' is the short form; "
       "repeatable.",
       "none"},
      &C::command, add_word, same_text));
  t.push_back(one({"loader",
                   {},
                   kWhat,
                   "FILE.py:FUNCTION",
                   "A function of yours that makes a loader, or a pipeline that we bring, to be "
                   "measured with a trainer of ours; see 'loaderscope list pipeline'.",
                   "none; dali:cpu with --engine dali, webdataset:pillow with --engine webdataset"},
                  &C::loader, loader_codec()));
  t.push_back(one({"train-step",
                   {},
                   kWhat,
                   "FILE.py:FUNCTION",
                   "A function of yours that is called with each batch of --loader.",
                   "none: the device computes for --compute"},
                  &C::train_step, function_codec()));
  t.push_back(one({"python", {}, kWhat, "PROGRAM", "The Python that runs --loader."}, &C::python,
                  path_codec()));
  t.push_back(
      one({"executor",
           {},
           kWhat,
           "inline|threads|processes",
           "Where batches are made: in the trainer, on threads, or in processes as PyTorch's.",
           "threads; inline with 0 workers"},
          &C::executor, word_codec<Executor>()));
  t.push_back(one({"source",
                   {},
                   kWhat,
                   "NAME",
                   "Where samples come from.",
                   "synthetic; files where --data is given"},
                  &C::source, source_codec()));
  t.push_back(many<std::string>({"data",
                                 {},
                                 kWhat,
                                 "[FORMAT:]PATH",
                                 "A data set: a folder per class, or a flat folder; repeatable.",
                                 "none"},
                                &C::data, add_data, same_text));
  t.push_back(one({"index",
                   {},
                   kWhat,
                   "FILE",
                   "A manifest of samples, CSV with the columns path,label or JSON lines.",
                   "none"},
                  &C::index, path_codec()));
  t.push_back(one({"access",
                   {},
                   kWhat,
                   "pread|mmap|direct|io-uring|io-uring-direct",
                   "How files are read; pread where the kernel refuses, and the result says so."},
                  &C::access, word_codec<FileAccess>()));
  t.push_back(one({"queue-depth",
                   {"iodepth"},
                   kWhat,
                   "N",
                   "Samples of its batch that a worker reads ahead with --access io-uring."},
                  &C::queue_depth, count_codec()));
  t.push_back(one({"cache",
                   {},
                   kWhat,
                   "as-is|warm|cold",
                   "State of the page cache when the run begins; the result proves it."},
                  &C::cache, word_codec<CacheState>()));
  t.push_back(
      one({"on-error", {}, kWhat, "skip|fail", "What to do with a sample that cannot be used."},
          &C::on_error, word_codec<OnError>()));
  t.push_back(one({"samples",
                   {},
                   kWhat,
                   "N",
                   "Samples per epoch, of all ranks together.",
                   "all of the data; endless without data"},
                  &C::samples, count_codec()));
  t.push_back(one({"stored-bytes",
                   {},
                   kWhat,
                   "SIZE",
                   "Size of a stored sample, or its distribution such as lognormal:110KB:0.5."},
                  &C::stored_bytes, bytes_codec()));
  t.push_back(one({"delivered-bytes",
                   {},
                   kWhat,
                   "SIZE",
                   "Size of a sample as the trainer gets it.",
                   "3 x size x size x bytes of a value"},
                  &C::delivered_bytes, size_codec()));
  t.push_back(one({"size", {}, kWhat, "PIXELS", "Height and width of a delivered image."}, &C::size,
                  count_codec()));
  t.push_back(one({"transfer", {}, kWhat, "u8|f16|f32", "Type of a delivered value."}, &C::transfer,
                  word_codec<Transfer>()));
  t.push_back(one({"layout", {}, kWhat, "nchw|nhwc", "Order of a delivered image."}, &C::layout,
                  word_codec<Layout>()));
  t.push_back(many<std::string>(
      {"augment",
       {},
       kWhat,
       "OP[:PARAMETERS]",
       "An operation on decoded images, in order; see 'loaderscope list operation'; repeatable.",
       "random-resized-crop, flip, normalise"},
      &C::augment, add_operation, same_text));
  t.push_back(one({"antialias",
                   {},
                   kWhat,
                   "on|off",
                   "Resize with a filter as wide as the reduction; off is plain bilinear."},
                  &C::antialias, word_codec<OnOff>()));
  t.push_back(one({"dct-scale",
                   {},
                   kWhat,
                   "off|auto",
                   "Decode a JPEG at 1/2 or 1/4 where the crop allows; not exact."},
                  &C::dct_scale, word_codec<DctScale>()));
  t.push_back(on_off({"fast-upsampling",
                      {},
                      kWhat,
                      "",
                      "Repeat the colour samples of a JPEG instead of smoothing them; not exact."},
                     &C::fast_upsampling));
}

void add_loader(Table& t) {
  using C = RunConfig;
  t.push_back(one({"num-workers",
                   {"workers"},
                   kLoader,
                   "N",
                   "Workers per rank; 0 makes batches in the trainer.",
                   "one per usable core"},
                  &C::num_workers, count_codec()));
  t.push_back(one({"prefetch-factor", {"prefetch"}, kLoader, "N", "Batches in flight per worker."},
                  &C::prefetch_factor, count_codec()));
  t.push_back(one({"batch-size", {"batch"}, kLoader, "N", "Samples per batch of one rank."},
                  &C::batch_size, count_codec()));
  t.push_back(one({"task",
                   {},
                   kLoader,
                   "batch|sample",
                   "Whether a worker makes a whole batch or one sample of it."},
                  &C::task, word_codec<TaskShape>()));
  t.push_back(one({"window",
                   {},
                   kLoader,
                   "N",
                   "Batches in flight, for --task sample.",
                   "prefetch-factor x workers"},
                  &C::window, count_codec()));
  t.push_back(
      on_off({"in-order", {}, kLoader, "", "Deliver batches in order, not as they get ready."},
             &C::in_order));
  t.push_back(on_off({"shuffle", {}, kLoader, "", "Read the data set in another order each epoch."},
                     &C::shuffle));
  t.push_back(one({"shuffle-buffer",
                   {},
                   kLoader,
                   "N",
                   "Shuffle through a buffer of so many samples, as streamed data sets are.",
                   "the whole data set"},
                  &C::shuffle_buffer, count_codec()));
  t.push_back(
      on_off({"drop-last", {}, kLoader, "", "Leave out the short batch at the end of an epoch."},
             &C::drop_last));
  t.push_back(
      on_off({"persistent-workers", {}, kLoader, "", "Keep the workers from epoch to epoch."},
             &C::persistent_workers));
  t.push_back(one({"mp-context",
                   {},
                   kLoader,
                   "fork|spawn|forkserver",
                   "How worker processes start; with forkserver their startup.parent does not keep "
                   "the trainer."},
                  &C::mp_context, word_codec<StartMethod>()));
  t.push_back(one(
      {"memory",
       {},
       kLoader,
       "MODE",
       "Host memory of a batch: pageable, pin-thread, pinned-slots, registered or write-combined."},
      &C::memory, word_codec<MemoryMode>()));
  t.push_back(pin_memory_field());
}

void add_trainer(Table& t) {
  using C = RunConfig;
  t.push_back(one({"device",
                   {},
                   kTrainer,
                   "NAME",
                   "Where batches go; see 'loaderscope list device'.",
                   "cuda; sim where there is no GPU, --link is given or the engine is the model"},
                  &C::device, device_codec()));
  t.push_back(
      one({"copy", {}, kTrainer, "sync|async|stream", "How a batch is copied to the device."},
          &C::copy, word_codec<CopyMode>()));
  t.push_back(
      one({"link",
           {},
           kTrainer,
           "LINK",
           "The simulated link: gen4x16 (25/8), gen5x16 (50/10, nominal), c2c (300/60, nominal) "
           "or PINNED/PAGEABLE in GB/s.",
           "gen4x16; copies of synthetic batches are free unless --link is given"},
          &C::link, link_codec()));
  t.push_back(
      one({"compute",
           {},
           kTrainer,
           "[gemm:]DURATION",
           "Time of one step on the device such as 12ms, its distribution, or a preset such "
           "as resnet50-h100; gemm: by matrix products; see 'loaderscope list preset'.",
           "none: the rate of the loader is the answer"},
          &C::compute, compute_codec()));
  t.push_back(one({"launches",
                   {},
                   kTrainer,
                   "N",
                   "Kernels that the trainer launches per step on a real device."},
                  &C::launches, count_codec()));
  t.push_back(
      on_off({"graph", {}, kTrainer, "", "Launch a step's kernels as one CUDA graph."}, &C::graph));
  t.push_back(
      one({"demand",
           {},
           kTrainer,
           "RATE",
           "Samples per second that the training needs, such as 1786/s, of all ranks together.",
           "none"},
          &C::demand, count_rate_codec()));
  t.push_back(
      one({"in-flight",
           {},
           kTrainer,
           "N",
           "Steps that the trainer lets run on the device before it waits; 1 syncs every step."},
          &C::in_flight, count_codec()));
  t.push_back(one({"ranks",
                   {},
                   kTrainer,
                   "N",
                   "Trainers on this machine, each with its own workers and device."},
                  &C::ranks, count_codec()));
  t.push_back(on_off({"sync-ranks", {}, kTrainer, "", "Let all ranks begin each step together."},
                     &C::sync_ranks));
}

void add_costs(Table& t) {
  using C = RunConfig;
  t.push_back(many<Cost>(
      {"cost",
       {},
       kCosts,
       "STAGE=COST",
       "What a stage takes: STAGE=[DIST:]VALUE[:p99=V][:cpu|:sleep], such as decode=8ms, "
       "read=100MB/s, read=lognormal:8ms:0.5; repeatable.",
       "none"},
      &C::cost, add_cost, [](const Cost& cost) { return cost.text; }));
  t.push_back(many<Injection>({"inject",
                               {},
                               kCosts,
                               "STAGE=+DURATION",
                               "A delay added to a stage: "
                               "STAGE=+150ms[@p=0.01][@every=100][@rank=1][@worker=0]; repeatable.",
                               "none"},
                              &C::inject, add_injection,
                              [](const Injection& injection) { return injection.text; }));
  t.push_back(one({"cores",
                   {},
                   kCosts,
                   "X",
                   "Cores that the model shares out, such as 1.5.",
                   "affinity and CPU quota of this machine"},
                  &C::cores, real_codec()));
  t.push_back(one({"core-scaling",
                   {},
                   kCosts,
                   "X",
                   "Speed of a core when all are busy, as a share of its speed alone."},
                  &C::core_scaling, fraction_codec()));
  t.push_back(
      one({"storage-latency", {}, kCosts, "DURATION", "Time until the first byte of a read."},
          &C::storage_latency, duration_codec()));
  t.push_back(one({"storage-bandwidth",
                   {},
                   kCosts,
                   "RATE",
                   "Bytes per second that all reads share, such as 500MB/s.",
                   "unlimited"},
                  &C::storage_bandwidth, byte_rate_codec()));
  t.push_back(one({"storage-concurrency",
                   {},
                   kCosts,
                   "N",
                   "Reads that the storage serves at once.",
                   "unlimited"},
                  &C::storage_concurrency, count_codec()));
}

void add_measurement(Table& t) {
  using C = RunConfig;
  t.push_back(
      one({"duration", {"runtime"}, kMeasurement, "DURATION", "Length of the measured window."},
          &C::duration, duration_codec()));
  t.push_back(
      one({"steps", {}, kMeasurement, "N", "Measured steps, instead of a duration.", "none"},
          &C::steps, count_codec()));
  t.push_back(one({"epochs", {}, kMeasurement, "N", "Epochs to run at most.", "as many as needed"},
                  &C::epochs, count_codec()));
  t.push_back(one({"warmup",
                   {},
                   kMeasurement,
                   "N|DURATION",
                   "Steps or time before the measured window, not part of it."},
                  &C::warmup, warmup_codec()));
  t.push_back(one({"timeout",
                   {},
                   kMeasurement,
                   "DURATION",
                   "How long to wait for a batch before the run fails; 0 waits for ever."},
                  &C::timeout, duration_codec()));
  t.push_back(
      one({"seed", {}, kMeasurement, "N", "Seed of every random draw."}, &C::seed, count_codec()));
}

void add_answer(Table& t) {
  using C = RunConfig;
  t.push_back(one({"prove",
                   {},
                   kAnswer,
                   "[all]",
                   "Knock out what is blamed and run again, in turns with the base case; 'all' "
                   "tells device, memory, page cache and disk apart."},
                  &C::prove, word_codec<Prove>()));
  t.back().implied = name_of(Prove::blamed);
  t.push_back(one({"gpu-price",
                   {},
                   kAnswer,
                   "X",
                   "Price of a GPU per hour such as 2.5, for what its waiting costs.",
                   "none"},
                  &C::gpu_price, real_codec()));
  t.push_back(many<std::string>(
      {"require",
       {},
       kAnswer,
       "CONDITION",
       "Exit 2 when a value of the result is not so, such as 'device.busy >= 0.85'; repeatable.",
       "none"},
      &C::require, add_requirement, same_text));
  t.push_back(one({"json",
                   {},
                   kAnswer,
                   "FILE",
                   "Save the result there; - prints it instead of the table.",
                   "none"},
                  &C::json, path_codec()));
}

Table make_table() {
  Table table;
  add_what_runs(table);
  add_loader(table);
  add_trainer(table);
  add_costs(table);
  add_measurement(table);
  add_answer(table);
  return table;
}

// "no-NAME" of a switch.
const Field* find_negated(std::string_view name) {
  if (!name.starts_with("no-")) return nullptr;
  for (const Field& field : fields()) {
    if (field.is_switch() && field.name == name.substr(3)) return &field;
  }
  return nullptr;
}

std::vector<std::string_view> known_keys() {
  std::vector<std::string_view> keys;
  for (const Field& field : fields()) {
    keys.push_back(field.name);
    keys.insert(keys.end(), field.aliases.begin(), field.aliases.end());
  }
  return keys;
}

// "x.conf:3: compute = 12" in a file, "--compute 12" on the command line (no place).
std::string subject(std::string_view place, std::string_view key, std::string_view value) {
  const std::string shown = shown_text(value);
  if (!place.empty()) return std::string(place) + ": " + std::string(key) + " = " + shown;
  return "--" + std::string(key) + " " + (shown.empty() ? "''" : shown);
}

}  // namespace

std::span<const Field> fields() {
  static const Table table = make_table();
  return table;
}

const Field* find_field(std::string_view name_or_alias) {
  for (const Field& field : fields()) {
    if (field.name == name_or_alias) return &field;
    if (std::find(field.aliases.begin(), field.aliases.end(), name_or_alias) !=
        field.aliases.end()) {
      return &field;
    }
  }
  return find_negated(name_or_alias);
}

void set_field(RunConfig& config, std::string_view place, std::string_view key,
               std::string_view value) {
  const Field* field = find_field(key);
  if (field == nullptr) {
    const std::string where = place.empty() ? "" : std::string(place) + ": ";
    throw UsageError(where + shown_text(key) + ": unknown key" + suggestion(key, known_keys()));
  }
  try {
    if (find_negated(key) == field) {
      const bool on = switch_codec().parse(value);
      field->set(config, on ? "false" : "true");
    } else {
      field->set(config, value);
    }
  } catch (const ValueError& error) {
    throw UsageError(subject(place, key, value) + ": " + error.what());
  }
}

}  // namespace loaderscope
