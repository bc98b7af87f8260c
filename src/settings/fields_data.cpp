// Fields: what runs, on which data.
#include "base/secret.h"
#include "loaderscope/augment.h"
#include "loaderscope/errors.h"
#include "settings/field_rows.h"

namespace loaderscope::settings {

using namespace about;

namespace {

constexpr const char* kWhat = "What runs";

void add_operation(std::vector<std::string>& operations, std::string_view text) {
  find_row(text.substr(0, text.find(':')), operation_table());
  operations.emplace_back(text);
}

void add_data(std::vector<std::string>& paths, std::string_view text) {
  if (text.empty()) throw ValueError("expected a path");
  if (holds_secret(text))
    throw ValueError(
        "the URL holds a password or a signature, which results would show; put them into "
        "~/.netrc, "
        "or read s3://BUCKET/KEY with a key from the environment");
  paths.emplace_back(text);
}

void add_word(std::vector<std::string>& words, std::string_view text) {
  if (text.empty() && words.empty()) throw ValueError("expected a program");
  words.emplace_back(text);
}

}  // namespace

void add_what_runs(Table& t) {
  t.push_back(one({"engine",
                   {},
                   kWhat,
                   kNotModelled,
                   "NAME",
                   "What produces the run; see 'loaderscope list engine'."},
                  &RunConfig::engine, engine_codec()));
  t.push_back(many<std::string>(
      {"command",
       {},
       kWhat,
       kNoTrait,
       "WORD",
       "A word of the training program to run and measure; 'run -- COMMAND...' is the short form; "
       "repeatable.",
       "none"},
      &ProgramConfig::command, add_word, same_text));
  t.push_back(one({"loader",
                   {},
                   kWhat,
                   kNoTrait,
                   "FILE.py:FUNCTION",
                   "A function of yours that makes a loader, or a pipeline that we bring, to be "
                   "measured with a trainer of ours; see 'loaderscope list pipeline'.",
                   "none; dali:cpu with --engine dali, webdataset:pillow with --engine webdataset"},
                  &ProgramConfig::loader, loader_codec()));
  t.push_back(one({"train-step",
                   {},
                   kWhat,
                   kNoTrait,
                   "FILE.py:FUNCTION",
                   "A function of yours that is called with each batch of --loader.",
                   "none: the device computes for --compute"},
                  &ProgramConfig::train_step, function_codec()));
  t.push_back(one({"batch-function",
                   {},
                   kWhat,
                   kNoTrait,
                   "FILE.py:NAME",
                   "The function, method or generator of the program behind -- that gives its "
                   "batches, where no loader does; no line of the program changes.",
                   "none: its loaders are measured"},
                  &ProgramConfig::batch_function, method_codec()));
  t.push_back(one({"python", {}, kWhat, kNoTrait, "PROGRAM", "The Python that runs --loader."},
                  &ProgramConfig::python, path_codec()));
  t.push_back(
      one({"executor",
           {},
           kWhat,
           kNativeLoader,
           "inline|threads|processes",
           "Where batches are made: in the trainer, on threads, or in processes as PyTorch's.",
           "threads; inline with 0 workers"},
          &LoaderConfig::executor, word_codec<Executor>()));
  t.push_back(one({"source",
                   {},
                   kWhat,
                   kWhichData | kNativeLoader,
                   "NAME",
                   "Where samples come from.",
                   "synthetic; files where --data is given"},
                  &DataConfig::source, source_codec()));
  t.push_back(many<std::string>({"data",
                                 {},
                                 kWhat,
                                 kWhichData | kOfPipelines,
                                 "[FORMAT:]PATH",
                                 "A data set: images in folders, shards or arrays; see "
                                 "'loaderscope list source'; repeatable.",
                                 "none"},
                                &DataConfig::paths, add_data, same_text));
  t.push_back(one({"index",
                   {},
                   kWhat,
                   kWhichData | kNativeLoader,
                   "FILE",
                   "A manifest of samples, CSV with the columns path,label or JSON lines.",
                   "none"},
                  &DataConfig::index, path_codec()));
  t.push_back(
      one({"access",
           {},
           kWhat,
           kStored | kNativeLoader,
           "pread|mmap|direct|io-uring|io-uring-direct|http",
           "How files are read; pread where the kernel refuses, and the result says so. http: "
           "URLs, of itself."},
          &DataConfig::access, word_codec<FileAccess>()));
  t.push_back(one(
      {"queue-depth",
       {"iodepth"},
       kWhat,
       kNativeLoader,
       "N",
       "Samples of its batch that a worker reads ahead with --access io-uring, of URLs, and of a "
       "declared --storage-latency or --storage-bandwidth.",
       "8; of a declared storage none is read ahead"},
      &DataConfig::queue_depth, count_codec()));
  t.push_back(one({"cache",
                   {},
                   kWhat,
                   kStored | kNativeLoader,
                   "as-is|warm|cold",
                   "State of the page cache when the run begins; the result proves it."},
                  &DataConfig::cache, word_codec<CacheState>()));
  t.push_back(one({"cache-dir",
                   {},
                   kWhat,
                   kStored | kNativeLoader,
                   "DIR",
                   "A folder that keeps what servers send, for all ranks and later jobs.",
                   "none"},
                  &DataConfig::cache_dir, path_codec()));
  t.push_back(one({"cache-bytes",
                   {},
                   kWhat,
                   kStored | kNativeLoader,
                   "SIZE",
                   "What --cache-dir may hold; the longest unused goes first."},
                  &DataConfig::cache_bytes, size_codec()));
  t.push_back(one({"request-timeout",
                   {},
                   kWhat,
                   kStored | kNativeLoader,
                   "DURATION",
                   "A server that sends nothing for so long is asked again, a few times."},
                  &DataConfig::request_timeout, duration_codec()));
  t.push_back(one({"on-error",
                   {},
                   kWhat,
                   kStored | kNativeLoader | kNotModelled,
                   "skip|fail",
                   "What to do with a sample that cannot be used."},
                  &DataConfig::on_error, word_codec<OnError>()));
  t.push_back(one({"samples",
                   {},
                   kWhat,
                   kNativeLoader,
                   "N",
                   "Samples per epoch, of all ranks together.",
                   "all of the data; endless without data"},
                  &DataConfig::samples, count_codec()));
  t.push_back(one({"stored-bytes",
                   {},
                   kWhat,
                   kDeclaredData | kNativeLoader,
                   "SIZE",
                   "Size of a stored sample, or its distribution such as lognormal:110KB:0.5."},
                  &DataConfig::stored_bytes, bytes_codec()));
  t.push_back(one({"delivered-bytes",
                   {},
                   kWhat,
                   kDeclaredData | kNativeLoader,
                   "SIZE",
                   "Size of a sample as the trainer gets it.",
                   "3 x size x size x bytes of a value"},
                  &DataConfig::delivered_bytes, size_codec()));
  t.push_back(one({"size",
                   {},
                   kWhat,
                   kImage | kOfPipelines,
                   "PIXELS",
                   "Height and width of a delivered image."},
                  &ImageConfig::size, count_codec()));
  t.push_back(one(
      {"transfer", {}, kWhat, kImage | kNativeLoader, "u8|f16|f32", "Type of a delivered value."},
      &ImageConfig::transfer, word_codec<Transfer>()));
  t.push_back(
      one({"layout", {}, kWhat, kImage | kNativeLoader, "nchw|nhwc", "Order of a delivered image."},
          &ImageConfig::layout, word_codec<Layout>()));
  t.push_back(many<std::string>(
      {"augment",
       {},
       kWhat,
       kStored | kImage | kNativeLoader,
       "OP[:PARAMETERS]",
       "An operation on decoded images, in order; see 'loaderscope list operation'; repeatable.",
       "random-resized-crop, flip, normalise"},
      &ImageConfig::augment, add_operation, same_text));
  t.push_back(one({"antialias",
                   {},
                   kWhat,
                   kImage | kNativeLoader,
                   "on|off",
                   "Resize with a filter as wide as the reduction; off is plain bilinear."},
                  &ImageConfig::antialias, word_codec<OnOff>()));
  t.push_back(one({"dct-scale",
                   {},
                   kWhat,
                   kImage | kNativeLoader,
                   "off|auto",
                   "Decode a JPEG at 1/2 or 1/4 where the crop allows; not exact."},
                  &ImageConfig::dct_scale, word_codec<DctScale>()));
  t.push_back(on_off({"fast-upsampling",
                      {},
                      kWhat,
                      kImage | kNativeLoader,
                      "",
                      "Repeat the colour samples of a JPEG instead of smoothing them; not exact."},
                     &ImageConfig::fast_upsampling));
}

}  // namespace loaderscope::settings
