// Fields: what runs, on which data.
#include "base/secret.h"
#include "loaderscope/augment.h"
#include "loaderscope/errors.h"
#include "settings/field_rows.h"

namespace loaderscope::settings {

using namespace about;

namespace {

void add_operation(std::vector<std::string>& operations, std::string_view text) {
  find_row(text.substr(0, text.find(':')), operation_table());
  operations.emplace_back(text);
}

void add_data(std::vector<std::string>& paths, std::string_view text) {
  if (text.empty()) throw ValueError("expected a path");
  if (holds_secret(text))
    throw ValueError(
        "the URL holds a password or a signature, which results would show",
        "put them into ~/.netrc, or read s3://BUCKET/KEY with a key from the environment");
  paths.emplace_back(text);
}

void add_word(std::vector<std::string>& words, std::string_view text) {
  if (text.empty() && words.empty()) throw ValueError("expected a program");
  words.emplace_back(text);
}

}  // namespace

void add_what_runs(Table& table) {
  Rows rows(table, "What runs");
  rows.add("engine", "NAME", &RunConfig::engine, engine_codec(), kNotModelled,
           "Produce the run with this engine. See 'loaderscope list engine'.");
  rows.add_list<std::string>("command", "WORD", &ProgramConfig::command, add_word, same_text,
                             kNoTrait,
                             "A word of the training program to run and measure. Short form: 'run "
                             "-- COMMAND...'. Repeatable.",
                             "none");
  rows.add("directory", "FOLDER", &ProgramConfig::directory, path_codec(), kNoTrait,
           "Run the program after -- in this folder.", "the current one");
  rows.add("loader", "FILE.py:FUNCTION", &ProgramConfig::loader, loader_codec(), kNoTrait,
           "Measure the loader that this function or built-in pipeline makes. A built-in trainer "
           "takes the batches. See 'loaderscope list pipeline'.",
           "none; dali:cpu with --engine dali, webdataset:pillow with --engine webdataset");
  rows.add("train-step", "FILE.py:FUNCTION", &ProgramConfig::train_step, function_codec(), kNoTrait,
           "Call this function with each batch of --loader.",
           "none: the device computes for --compute");
  rows.add("batch-function", "FILE.py:NAME", &ProgramConfig::batch_function, method_codec(),
           kNoTrait,
           "Function, method or generator that gives the batches of a program without a loader. "
           "The program needs no changes.",
           "none: its loaders are measured");
  rows.add("python", "PROGRAM", &ProgramConfig::python, path_codec(), kNoTrait,
           "The Python that runs --loader.");
  rows.add("executor", "inline|threads|processes", &LoaderConfig::executor, word_codec<Executor>(),
           kNativeLoader,
           "Make batches in the trainer, on threads, or in processes as PyTorch does.",
           "threads; inline with 0 workers");
  rows.add("source", "NAME", &DataConfig::source, source_codec(), kWhichData | kNativeLoader,
           "Take samples from this source.", "synthetic; files where --data is given");
  rows.add_list<std::string>(
      "data", "[FORMAT:]PATH", &DataConfig::paths, add_data, same_text, kWhichData | kPipelineOnly,
      "A data set: images in folders, shards or arrays. See 'loaderscope list source'. Repeatable.",
      "none");
  rows.add("index", "FILE", &DataConfig::index, path_codec(), kWhichData | kNativeLoader,
           "A manifest of samples, CSV with the columns path,label or JSON lines.", "none");
  rows.add("access", "pread|mmap|direct|io-uring|io-uring-direct|http", &DataConfig::access,
           word_codec<FileAccess>(), kStored | kNativeLoader,
           "Set the method for reading files. URLs use http automatically. If the kernel rejects a "
           "method, pread is used and the result says so.");
  rows.add({"queue-depth", "iodepth"}, "N", &DataConfig::queue_depth, count_codec(), kNativeLoader,
           "Number of samples of its batch that a worker reads ahead. For --access io-uring, URLs, "
           "--storage-latency and --storage-bandwidth.",
           "8; of a declared storage none is read ahead");
  rows.add("cache", "as-is|warm|cold", &DataConfig::cache, word_codec<CacheState>(),
           kStored | kNativeLoader,
           "State of the page cache when the run begins; the result proves it.");
  rows.add("cache-dir", "DIR", &DataConfig::cache_dir, path_codec(), kStored | kNativeLoader,
           "A folder that keeps what servers send, for all ranks and later jobs.", "none");
  rows.add("cache-bytes", "SIZE", &DataConfig::cache_bytes, size_codec(), kStored | kNativeLoader,
           "Limit the size of --cache-dir. The file that is unused for longest is removed first.");
  rows.add("request-timeout", "DURATION", &DataConfig::request_timeout, duration_codec(),
           kStored | kNativeLoader,
           "Ask a server again, a few times, if it sends nothing for this long.");
  rows.add("on-error", "skip|fail", &DataConfig::on_error, word_codec<OnError>(),
           kStored | kNativeLoader | kNotModelled, "Skip a sample that cannot be used, or fail.");
  rows.add("samples", "N", &DataConfig::samples, count_codec(), kNativeLoader,
           "Samples per epoch, of all ranks together.", "all of the data; endless without data");
  rows.add("stored-bytes", "SIZE", &DataConfig::stored_bytes, bytes_codec(),
           kDeclaredData | kNativeLoader,
           "Size of a stored sample, or its distribution such as lognormal:110KB:0.5.");
  rows.add("delivered-bytes", "SIZE", &DataConfig::delivered_bytes, size_codec(),
           kDeclaredData | kNativeLoader, "Size of a sample as the trainer gets it.",
           "3 x size x size x bytes of a value");
  rows.add("decode", "cpu|gpu|hw|split:0.7", &ImageConfig::decode, decode_codec(),
           kNativeLoader | kPredictable,
           "Decode on the CPU, on the GPU, on its JPEG engines, or a share of each batch on them. "
           "For now only the model can do it on the GPU.");
  rows.add("augment-on", "host|gpu", &ImageConfig::augment_on, word_codec<AugmentOn>(),
           kNativeLoader | kPredictable,
           "Augment in the workers, or whole batches on the GPU. For now only the model can do it "
           "on the GPU.",
           "host; gpu if the GPU decodes");
  rows.add(
      "resident", "no|stored|decoded:256", &ImageConfig::resident, resident_codec(),
      kNativeLoader | kPredictable,
      "Keep the data set in GPU memory, as it is stored or as images of 256 pixels. It is read "
      "once, before the first batch.");
  rows.add("size", "PIXELS", &ImageConfig::size, count_codec(), kImage | kPipelineOnly,
           "Set the height and width of a delivered image, in pixels.");
  rows.add("transfer", "u8|f16|f32", &ImageConfig::transfer, word_codec<Transfer>(),
           kImage | kNativeLoader, "Store each delivered value in this type.");
  rows.add("layout", "nchw|nhwc", &ImageConfig::layout, word_codec<Layout>(),
           kImage | kNativeLoader, "Order of a delivered image.");
  rows.add_list<std::string>("augment", "OP[:PARAMETERS]", &ImageConfig::augment, add_operation,
                             same_text, kStored | kImage | kNativeLoader,
                             "Apply an operation to decoded images, in order. See 'loaderscope "
                             "list operation'. Repeatable.",
                             "random-resized-crop, flip, normalise");
  rows.add("antialias", "on|off", &ImageConfig::antialias, word_codec<OnOff>(),
           kImage | kNativeLoader,
           "Resize with a filter as wide as the reduction; off is plain bilinear.");
  rows.add("dct-scale", "off|auto", &ImageConfig::dct_scale, word_codec<DctScale>(),
           kImage | kNativeLoader, "Decode a JPEG at 1/2 or 1/4 where the crop allows; not exact.");
  rows.add_switch("fast-upsampling", &ImageConfig::fast_upsampling, kImage | kNativeLoader,
                  "Repeat the colour samples of a JPEG instead of smoothing them; not exact.");
}

}  // namespace loaderscope::settings
